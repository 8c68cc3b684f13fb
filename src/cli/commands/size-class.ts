import type { Command } from "commander";
import type { ApiClient } from "../api/api-client.ts";
import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { addDeclareCommands } from "../size-class-declare.ts";
import { classesLines, costText, explainLines, keyLines } from "../size-class-lines.ts";
import { settingsChange, settingsLines } from "../size-class-settings.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { numberFrom } from "../whole-number.ts";

interface KeyOptions extends CommonOptions {
  readonly project: string;
  readonly domain?: string;
}

interface KeysOptions extends CommonOptions {
  readonly limit: number;
}

interface SettingsOptions extends CommonOptions {
  readonly set?: readonly string[];
}

export const describeSizeClasses: Describe = (command) => {
  speaksToServer(command).action((options: CommonOptions) =>
    inSession(options, async (session) => {
      const { sizeClassEndpoints } = await import("#api/endpoints/size-class-endpoints.ts");
      const classes = await session.api.call(sizeClassEndpoints.sizeClasses, {});
      return answer(session, options, classes, () => classesLines(classes));
    }),
  );
  withExamples(command, [
    ["which size classes there are, how busy they are, and what choosing saves", "size-classes"],
  ]);
};

export const describeSizeClass: Describe = (command) => {
  describeExplain(command);
  describeKey(command);
  describeKeys(command);
  describeSettings(command);
  addDeclareCommands(command);
  withExamples(command, [
    ["why an execution ran where it ran", "size-class explain 0f6a9d0b-…"],
    ["why a job of the newest graph did", "size-class explain latest tests"],
    ["what costs most, of what has store in its name", "size-class keys store"],
    ["what is remembered of one of them", "size-class key a.4kTzp0…"],
    ["make waiting twice as dear as it usually is", "size-class settings --set priceOfDelay=6"],
  ]);
};

function describeExplain(command: Command): void {
  speaksToServer(command.command("explain"))
    .description("say what was known, what could have been chosen, what was, and what came of it")
    .argument("<execution>", "its id; or a graph's, or `latest`, with a job")
    .argument("[job]", "the graph's job, of which the latest run is explained")
    .action((named: string, job: string | undefined, options: CommonOptions) =>
      inSession(options, async (session) => {
        const execution = job === undefined ? named : await executionOf(session.api, named, job);
        const { sizeClassEndpoints } = await import("#api/endpoints/size-class-endpoints.ts");
        const explained = await session.api.call(sizeClassEndpoints.executionSizeClass, {
          params: { execution },
        });
        return answer(session, options, explained, () => explainLines(explained));
      }),
    );
}

async function executionOf(api: ApiClient, graph: string, job: string): Promise<string> {
  const { runList } = await api.job(graph, job);
  const run = runList.findLast(({ executionId }) => executionId !== null);
  if (typeof run?.executionId === "string") return run.executionId;
  throw new UsageError(
    `no worker was asked to run ${printableLine(job)} in that graph; \`grange runs ${printableLine(graph)} ${printableLine(job)}\` says what became of it`,
  );
}

function describeKey(command: Command): void {
  speaksToServer(command.command("key <key>"))
    .description("show what is remembered under a key: runs and estimates by class")
    .option("--project <name>", "the project of its executions", "default")
    .option("--domain <name>", "their trust domain (default: that in which it was seen last)")
    .action((key: string, options: KeyOptions) =>
      inSession(options, async (session) => {
        const { sizeClassEndpoints } = await import("#api/endpoints/size-class-endpoints.ts");
        const { project, domain } = options;
        const found = await session.api.call(sizeClassEndpoints.sizeClassKey, {
          params: { key },
          query: { project, domain },
        });
        return answer(session, options, found, () => keyLines(found));
      }),
    );
}

function describeKeys(command: Command): void {
  speaksToServer(command.command("keys [text]"))
    .description("list keys by what they cost lately, those with a text in their title")
    .option("--limit <number>", "how many, at most 200", numberFrom(1, 200), 20)
    .action((text: string | undefined, options: KeysOptions) =>
      inSession(options, async (session) => {
        const { sizeClassEndpoints } = await import("#api/endpoints/size-class-endpoints.ts");
        const found = await session.api.call(sizeClassEndpoints.sizeClassKeys, {
          query: { text, limit: options.limit },
        });
        return answer(session, options, found, () =>
          found.keys.length === 0
            ? ["There is none."]
            : tableLines([
                ["cost", "executions", "key", "project", "what"],
                ...found.keys.map((each) => [
                  costText(each.cost),
                  String(each.executions),
                  printableLine(each.key),
                  printableLine(each.project),
                  printableLine(each.title),
                ]),
              ]),
        );
      }),
    );
}

function describeSettings(command: Command): void {
  speaksToServer(command.command("settings"))
    .description("show, or change, how size classes are chosen")
    .option(
      "--set <name=value>",
      "change one; usual takes it back (may be given several times)",
      repeated,
    )
    .action((options: SettingsOptions) =>
      inSession(options, async (session) => {
        const { sizeClassEndpoints } = await import("#api/endpoints/size-class-endpoints.ts");
        const change = settingsChange(options.set ?? []);
        const now =
          options.set === undefined
            ? await session.api.call(sizeClassEndpoints.sizeClassSettings, {})
            : await session.api.call(sizeClassEndpoints.setSizeClassSettings, { body: change });
        return answer(session, options, now, () => settingsLines(now));
      }),
    );
}
