import pytest
from jrh import Mode
from jrh.testing import DataSourceContract, sample_task
from jrh_inspect import plugin


class TestInspect(DataSourceContract):
    plugin = plugin
    component = "inspect"
    required_options = ("path",)
    task = sample_task(Mode.TRANSCRIPT)

    @pytest.fixture(autouse=True)
    def _log(self, made):
        type(self).options = {"path": str(made / "made.eval")}
