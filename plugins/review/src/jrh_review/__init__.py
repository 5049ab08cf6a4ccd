"""The workbench: look at runs in the browser, on this machine."""
