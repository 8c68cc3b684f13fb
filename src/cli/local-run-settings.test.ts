import { expect, test } from "vitest";
import { jobPath } from "./local-run-settings.ts";

test.each([
  ["/usr/bin:/bin", "/usr/bin:/bin"],
  ["/w/app/node_modules/.bin:/w/node_modules/.bin:/node_modules/.bin:/usr/bin", "/usr/bin"],
  ["/w/app/tools:/w/app-tools/bin:/usr/bin", "/w/app-tools/bin:/usr/bin"],
  ["/opt/other/node_modules/.bin:/usr/bin", "/opt/other/node_modules/.bin:/usr/bin"],
])("of the search path %s a job has %s", (path, left) => {
  expect(jobPath(path, "/w/app")).toBe(left);
});
