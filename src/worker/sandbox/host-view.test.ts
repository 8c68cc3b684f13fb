import { expect, test } from "vitest";
import { toolsIn } from "./host-view.ts";

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

test("shows the Node that runs the worker, wherever it is", () => {
  expect(toolsIn(hidden, [], "/root/node-v20/bin/node")).toEqual(["/root/node-v20"]);
});
