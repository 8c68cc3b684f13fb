import { expect, test } from "vitest";
import { hidingSteps, toolsIn } from "./host-view.ts";

const hidden = ["/home", "/root", "/srv/me"];

test.each([
  [
    "a version manager's Node, with its libraries",
    "/home/me/.nvm/versions/node/v20/bin",
    "/home/me/.nvm/versions/node/v20",
  ],
  ["programs in a home, without the home", "/home/me/bin", "/home/me/bin"],
  ["programs beside secrets, without the secrets", "/root/.cargo/bin", "/root/.cargo/bin"],
  ["programs in a home of another place", "/srv/me/bin", "/srv/me/bin"],
])("shows %s", (_, directory, shown) => {
  expect(toolsIn(hidden, ["/usr/bin", directory], "/usr/bin/node")).toEqual([shown]);
});

test("shows a directory of programs once where another one holds it", () => {
  const searchPath = [
    "/root/.pyenv/plugins/virtualenv/shims",
    "/root/.pyenv/shims",
    "/root/.pyenv/bin",
  ];

  expect(toolsIn(hidden, searchPath, "/usr/bin/node")).toEqual(["/root/.pyenv"]);
});

test("shows the Node that runs the worker, wherever it is", () => {
  expect(toolsIn(hidden, [], "/root/node-v20/bin/node")).toEqual(["/root/node-v20"]);
});

test("hides directories and files that are there, and no file of what is not shown anyway", () => {
  const folder = "/usr/lib";
  const steps = hidingSteps([
    folder,
    "/etc/hostname",
    "/etc/hostname",
    "/gone",
    "/proc/version",
    "/",
  ]);

  expect(steps).toEqual([
    { kind: "empty", path: folder },
    { kind: "show", path: "/etc/hostname", from: "/dev/null" },
  ]);
});
