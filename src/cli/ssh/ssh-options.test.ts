import { Command } from "commander";
import { expect, test } from "vitest";
import { withWorkOptions } from "../work-here.ts";
import { type SshOptions, wantedWorkers } from "./ssh-options.ts";
import type { WorkerSettings } from "./worker-settings.ts";

const defaults = { server: "http://farm:8980", token: undefined, ca: undefined };

/** Returns the settings for the machine `attic` with some words of a command line. */
function settingsFor(...words: readonly string[]): WorkerSettings {
  const command = withWorkOptions(new Command("worker").exitOverride());
  command.parse(words, { from: "user" });
  const [only] = wantedWorkers({ ...command.opts<SshOptions>(), ssh: ["attic"] }, defaults);
  if (only === undefined) throw new Error("there is no worker");
  return only.settings;
}

const values: Readonly<Record<string, string | undefined>> = {
  "--server": "http://other:8980",
  "--name": "other",
  "--slots": "3",
  "--size-class": "2",
  "--cpus": "2",
  "--memory": "4G",
  "--disk": "20G",
  "--allow-calls": "keyctl",
  "--show": "/data",
  "--hide": "/private",
  "--registries": "docker.io",
  "--preload": "docker.io/library/alpine",
  "--only-for": "pool",
  "--lease": "5m",
  "--persistent-workers": "2",
  "--log-level": "debug",
};

/**
 * Options that are no settings of the worker there: of the output of this command, of this machine, and those that a
 * program passes to a worker. `--enrol` is refused before, `--token-file` is read as the token.
 */
const notThere = new Set([
  "--json",
  "--token-file",
  "--enrol",
  "--ca",
  "--settings",
  "--farm-from-stdin",
  "--end-with-parent",
]);
const refused = ["--data", "--client-cert", "--client-key"];

const flags = withWorkOptions(new Command("worker"))
  .options.map(({ long }) => long ?? "")
  .filter((flag) => !notThere.has(flag) && !refused.includes(flag));

test.each(flags)("%s has an effect on a worker of another machine", (flag) => {
  const value = values[flag];

  const settings = settingsFor(flag, ...(value === undefined ? [] : [value]));

  expect(settings).not.toEqual(settingsFor());
});

test.each(refused)("%s is refused for a worker of another machine", (flag) => {
  expect(() => settingsFor(flag, "/some/file")).toThrow("a worker on this machine");
});

test("the limits of jobs reach the worker there", () => {
  expect(settingsFor("--no-namespaces", "--private-network", "--disk", "1G")).toMatchObject({
    allowsNamespaces: false,
    privateNetwork: true,
    diskBytes: 1024 ** 3,
  });
});

test.each(["--show", "--hide"])("%s names an absolute path there", (flag) => {
  expect(() => settingsFor(flag, "data")).toThrow("a path on another machine must be absolute");
});
