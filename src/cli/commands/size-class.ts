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
  withExamples(command, [["list size classes, their load, and the savings", "size-classes"]]);
};

export const describeSizeClass: Describe = (command) => {
  describeExplain(command);
  describeKey(command);
  describeKeys(command);
  describeSettings(command);
  addDeclareCommands(command);
  withExamples(command, [
    ["explain the size class of an execution", "size-class explain 0f6a9d0b-…"],
    ["explain the size class of a job of the newest graph", "size-class explain latest tests"],
    ["list the most expensive actions whose name contains store", "size-class keys store"],
    ["show the records of one key", "size-class key a.4kTzp0…"],
    ["double the price of delay", "size-class settings --set priceOfDelay=6"],
  ]);
};

function describeExplain(command: Command): void {
  speaksToServer(command.command("explain"))
    .description(
      "explain a decision: the known facts, the possible classes, the choice and its result",
    )
    .argument("<execution>", "the id of an execution; or, with a job, of a graph, or `latest`")
    .argument("[job]", "a job of the graph; its latest run is explained")
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
  const run = runList.find(({ executionId }) => executionId !== null);
  if (typeof run?.executionId === "string") return run.executionId;
  throw new UsageError(
    `no worker ran ${printableLine(job)} in that graph; \`grange runs ${printableLine(graph)} ${printableLine(job)}\` shows its runs`,
  );
}

function describeKey(command: Command): void {
  speaksToServer(command.command("key <key>"))
    .description("show the records of a key: runs and estimates by class")
    .option("--project <name>", "the project of the executions", "default")
    .option("--domain <name>", "their trust domain (default: the one of the latest execution)")
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
    .description("list keys by recent cost; only those with this text in their title")
    .option("--limit <number>", "the number of keys, at most 200", numberFrom(1, 200), 20)
    .action((text: string | undefined, options: KeysOptions) =>
      inSession(options, async (session) => {
        const { sizeClassEndpoints } = await import("#api/endpoints/size-class-endpoints.ts");
        const found = await session.api.call(sizeClassEndpoints.sizeClassKeys, {
          query: { text, limit: options.limit },
        });
        return answer(session, options, found, () =>
          found.keys.length === 0
            ? ["None."]
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
    .description("show or change the settings of the choice of size classes")
    .option(
      "--set <name=value>",
      "change a setting; the value usual restores the default; may be repeated",
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
