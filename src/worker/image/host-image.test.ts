import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hidingSteps, hostView, toolsIn } from "./host-image.ts";

const hidden = ["/home", "/root", "/srv/me"];

test.each([
  [
    "a version manager's Node, with its libraries",
    "/home/me/.nvm/versions/node/v20/bin",
    "/home/me/.nvm/versions/node/v20",
  ],
  ["programs in a home, without the home", "/home/me/bin", "/home/me/bin"],
  ["programs beside secrets, without the secrets", "/root/.cargo/bin", "/root/.cargo/bin"],
  [
    "programs that lie where nothing is shown, with what is beside them",
    "/data/jdk/bin",
    "/data/jdk",
  ],
  ["programs at the top of the host, alone", "/go/bin", "/go/bin"],
  ["programs in a home of another place", "/srv/me/bin", "/srv/me/bin"],
])("shows %s", (_, directory, shown) => {
  expect(toolsIn(hidden, ["/usr/bin", directory], "/usr/bin/node", ["/usr", "/srv"])).toEqual([
    shown,
  ]);
});

test("shows a directory of programs once when another one contains it", () => {
  const searchPath = [
    "/root/.pyenv/plugins/virtualenv/shims",
    "/root/.pyenv/shims",
    "/root/.pyenv/bin",
  ];

  expect(toolsIn(hidden, searchPath, "/usr/bin/node", ["/usr"])).toEqual(["/root/.pyenv"]);
});

test("shows the Node that runs the worker, wherever it is", () => {
  expect(toolsIn(hidden, [], "/root/node-v20/bin/node", ["/usr"])).toEqual(["/root/node-v20"]);
});

test("shows directories of programs, configured paths, and nothing else of the host", () => {
  const settings = {
    path: "/usr/bin",
    homeDir: "/root",
    shownPaths: ["/var/lib"],
    hiddenPaths: ["/var/lib/dpkg", "/var/log"],
    standIns: {},
  };

  const steps = hostView(settings);

  const shown = steps.flatMap((step) => (step.kind === "show" ? [step.path] : []));
  expect(shown).toEqual(expect.arrayContaining(["/usr", "/etc", "/opt", "/sys", "/var/lib"]));
  for (const top of ["/srv", "/mnt", "/media", "/boot", "/var", "/home", "/tmp", "/"])
    expect(shown).not.toContain(top);
  const empty = steps.flatMap((step) => (step.kind === "empty" ? [step.path] : []));
  expect(empty).toContain("/var/lib/dpkg");
  // This directory is not shown in any case.
  expect(empty).not.toContain("/var/log");
});

test("hides configured paths among tools on PATH, too", () => {
  const farm = mkdtempSync(join(tmpdir(), "grange-view-"));
  onTestFinished(() => rmSync(farm, { recursive: true }));
  const data = join(farm, "data");
  for (const at of [join(farm, "bin"), data]) mkdirSync(at);

  const steps = hostView({
    path: join(farm, "bin"),
    homeDir: "/root",
    shownPaths: [],
    hiddenPaths: [data],
    standIns: {},
  });

  const at = (kind: string, path: string) =>
    steps.findIndex((step) => step.kind === kind && step.path === path);
  expect(at("show", farm)).toBeGreaterThan(-1);
  expect(at("empty", data)).toBeGreaterThan(at("show", farm));
});

test("hides existing directories and files, and ignores files that are not shown", () => {
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
