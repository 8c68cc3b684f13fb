import { Document, isMap, isScalar, type YAMLMap } from "yaml";
import type { StarterJob, StarterService } from "./starter-job.ts";

interface DefinitionsFile {
  /** Comment lines at the top. */
  readonly heading: readonly string[];
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly jobs: readonly StarterJob[];
}

/** Lists are written in one line if they fit, as people and formatters do. */
const widest = 80;

/** Returns the text of a `.grange/*.yml`. */
export function definitionsText({ heading, parameters, jobs }: DefinitionsFile): string {
  const document = new Document({
    version: 1,
    ...(parameters === undefined ? {} : { parameters }),
    jobs: Object.fromEntries(jobs.map((job) => [job.name, {}])),
  });
  const map = document.get("jobs", true);
  if (!isMap(map)) throw new Error("a map of jobs was made");
  jobs.forEach((job, index) => {
    map.set(job.name, jobNode(document, job));
    const key = map.items[index]?.key;
    if (!isScalar(key)) return;
    if (job.comment !== undefined) key.commentBefore = ` ${job.comment}`;
    key.spaceBefore = index > 0;
  });
  const [, body] = document.contents && isMap(document.contents) ? document.contents.items : [];
  if (isScalar(body?.key)) body.key.spaceBefore = true;
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return `${heading.map((line) => `# ${line}\n`).join("")}${text}`;
}

function jobNode(document: Document, job: StarterJob): YAMLMap {
  const node = document.createNode({}) as YAMLMap;
  const set = (key: string, value: unknown) => {
    if (value !== undefined) node.set(key, value);
  };
  const list = (key: string, values: readonly string[] | undefined) => {
    if (values === undefined || values.length === 0) return;
    const width = key.length + values.join(", ").length + 12;
    const texts = values.map(literally);
    set(key, document.createNode(texts, { flow: width <= widest }));
  };
  set("when", job.when);
  set("image", job.image === undefined ? undefined : literally(job.image));
  if (job.services !== undefined) {
    set("services", Object.fromEntries(Object.entries(job.services).map(serviceEntry)));
  }
  set("working-directory", job.workingDirectory);
  const [command = "", ...more] = job.commands.map(literally);
  set("commands", more.length === 0 ? command : [command, ...more]);
  list("inputs", job.inputs);
  list("outputs", job.outputs);
  list("needs", job.needs);
  const variables = Object.entries(job.environment ?? {});
  if (variables.length > 0) {
    set(
      "environment",
      Object.fromEntries(variables.map(([name, value]) => [name, literally(value)])),
    );
  }
  if (job.exitCodes !== undefined) {
    set("success", { "exit-codes": document.createNode(job.exitCodes, { flow: true }) });
  }
  if (job.sources !== undefined && job.sources.length > 0) {
    set(
      "sources",
      job.sources.map(({ url, commit, path }) => ({ repository: url, rev: commit, at: path })),
    );
  }
  if (job.network === true) set("network", true);
  set("timeout", job.timeout);
  return node;
}

function serviceEntry([name, service]: [string, StarterService]): [string, unknown] {
  const environment = Object.entries(service.environment).map(
    ([variable, value]) => [variable, literally(value)] as const,
  );
  return [
    name,
    {
      image: literally(service.image),
      ...(environment.length === 0 ? {} : { environment: Object.fromEntries(environment) }),
      ...(service.readyCommand === undefined
        ? {}
        : { ready: { command: literally(service.readyCommand) } }),
    },
  ];
}

/** Escapes `${NAME}` for the shell; otherwise the farm would replace it. */
function literally(text: string): string {
  return text.replaceAll("${", () => "$${");
}
