import pytest
from jrh import Mode
from jrh_inspect import plugin
from jrh_testing import DataSourceContract, sample_task


class TestInspect(DataSourceContract):
    plugin = plugin
    component = "inspect"
    required_options = ("path",)
    task = sample_task(Mode.TRANSCRIPT)

    @pytest.fixture(autouse=True)
    def _log(self, made):
        type(self).options = {"path": str(made / "made.eval")}
