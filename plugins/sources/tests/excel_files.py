"""Write a small Excel workbook: numbers as numbers, truth values as truth values, texts inline."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape
from zipfile import ZipFile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(sheets: Mapping[str, Sequence[Sequence[str | float | bool]]]) -> bytes:
    """Return the file."""
    names = list(sheets)
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(names, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{OFFICE}/worksheet" Target="worksheets/s{n}.xml"/>'
            for n, _ in enumerate(names, 1)
        )
        + "</Relationships>",
    }
    for number, name in enumerate(names, 1):
        lines = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in sheets[name])
        files[f"xl/worksheets/s{number}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as packed:
        for path, text in files.items():
            packed.writestr(path, text)
    return buffer.getvalue()


def _cell(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
