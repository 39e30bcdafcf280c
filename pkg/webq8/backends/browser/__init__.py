"""The page that Python runs in: its WebGPU, and what else only a page has. Nothing else imports `js`."""
