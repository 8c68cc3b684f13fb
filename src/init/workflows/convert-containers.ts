import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { parseImageReference } from "#images/image-reference.ts";
import type { StarterService } from "../starter-job.ts";
import type { LeftOut } from "./convert-job.ts";
import { type ExpressionContext, type ExpressionValue, fillExpressions } from "./expression.ts";
import { Scalar } from "./workflow-file.ts";
import type { WorkflowNote } from "./workflow-notes.ts";

const Container = z.object({
  image: Scalar.default(""),
  env: z.record(z.string(), Scalar).nullish(),
  credentials: z.unknown().optional(),
  ports: z.array(Scalar).max(100).nullish(),
  volumes: z.array(z.unknown()).nullish(),
  options: Scalar.optional(),
  command: z.unknown().optional(),
  entrypoint: z.unknown().optional(),
});
const ContainerOrImage = z.union([
  z.string().transform((image) => Container.parse({ image })),
  Container,
]);

/** Grange's limit for one job. */
const mostServices = 16;

interface ConvertedContainers {
  readonly image?: string;
  readonly services?: Readonly<Record<string, StarterService>>;
  /** Variables of the job's container. */
  readonly environment: Readonly<Record<string, string>>;
  /** Values that steps may name: `job.services.db.ports[5432]`. */
  readonly values: readonly (readonly [string, ExpressionValue])[];
  readonly leftOut: readonly LeftOut[];
}

/** Converts `container` and `services` of a job. Throws `unimplemented` with the reason when they do not fit. */
export function convertContainers(
  job: { readonly container?: unknown; readonly services?: unknown },
  context: ExpressionContext,
): ConvertedContainers {
  const leftOut: LeftOut[] = [];
  const own = readContainer("its container", job.container, context, leftOut);
  if (own?.options.healthCommand !== undefined)
    leftOut.push({ where: "its container", reason: "left out: --health-cmd" });
  const written = z.record(z.string(), z.unknown()).nullish().safeParse(job.services);
  if (!written.success) throw impossible("its services are computed when it runs");
  const services: Record<string, StarterService> = {};
  const values: [string, ExpressionValue][] = [];
  for (const [name, each] of Object.entries(written.data ?? {})) {
    const service = readContainer(`the service ${name}`, each, context, leftOut);
    if (service === undefined) continue;
    if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name) || /^(localhost|grange)$/.test(name))
      throw impossible(`its service ${name.slice(0, 60)} needs another name: that of a host`);
    for (const port of service.ports) {
      values.push([`job.services.${name}.ports[${port}]`, String(port)]);
      values.push([`job.services.${name}.ports['${port}']`, String(port)]);
    }
    const command = service.options.healthCommand;
    services[name] = {
      image: service.image,
      environment: service.environment,
      ...(command === undefined ? {} : { readyCommand: command }),
    };
  }
  const count = Object.keys(services).length;
  if (count > mostServices) throw impossible(`it has more than ${mostServices} services`);
  return {
    ...(own === undefined ? {} : { image: own.image }),
    ...(count === 0 ? {} : { services }),
    environment: own?.environment ?? {},
    values,
    leftOut,
  };
}

interface ReadContainer {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  readonly options: ContainerOptions;
}

/** Returns undefined for a container without an image: GitHub then starts none. */
function readContainer(
  what: string,
  written: unknown,
  context: ExpressionContext,
  leftOut: LeftOut[],
): ReadContainer | undefined {
  if (written === undefined || written === null) return undefined;
  const parsed = ContainerOrImage.safeParse(written);
  if (!parsed.success) throw impossible(`${what} has an unexpected form`);
  const container = parsed.data;
  const image = fillExpressions(container.image, context).replace(/^docker:\/\//, "");
  if (image === "") return undefined;
  parseImageReference(image);
  if ((container.volumes ?? []).length > 0) throw impossible(`${what} has volumes`);
  if (container.command !== undefined || container.entrypoint !== undefined)
    throw impossible(`${what} has a command or an entrypoint of its own`);
  if (container.credentials !== undefined && container.credentials !== null)
    leftOut.push({
      where: what,
      reason: "left out: credentials; give the project a login for the registry",
    });
  const environment = Object.fromEntries(
    Object.entries(container.env ?? {}).map(([name, value]) => [
      name,
      fillExpressions(value, context),
    ]),
  );
  const options = readOptions(fillExpressions(container.options ?? "", context));
  if (options.others.length > 0)
    leftOut.push({ where: what, reason: `left out: ${options.others.join(" ").slice(0, 200)}` });
  const ports = (container.ports ?? []).map((port) =>
    readPort(what, fillExpressions(port, context)),
  );
  return { image, environment, ports, options };
}

/** Reads `5432`, `5432:5432` or `5432/tcp`: a service is reachable at its own port only. */
function readPort(what: string, text: string): number {
  const match = /^(?:(\d{1,5}):)?(\d{1,5})(\/tcp)?$/.exec(text.trim());
  if (match === null) throw impossible(`${what} has the port ${text.slice(0, 60)}`);
  const [, outer, inner] = match;
  if (outer !== undefined && outer !== inner)
    throw impossible(`${what} is to be reached at port ${outer} in place of its own, ${inner}`);
  return Number(inner);
}

interface ContainerOptions {
  readonly healthCommand?: string;
  /** Options that have no counterpart. */
  readonly others: readonly string[];
}

/** Reads `options`, which GitHub gives to `docker create`. How often health is checked has no counterpart. */
function readOptions(text: string): ContainerOptions {
  if (text.length > 4_000) throw impossible("the options of its container are too long");
  const words = wordsOf(text);
  const others: string[] = [];
  let healthCommand: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [, name = "", joined] = /^--health-([a-z-]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (!/^(cmd|interval|timeout|retries|start-period|start-interval)$/.test(name)) {
      others.push(word);
      continue;
    }
    const value = joined ?? words[++at];
    if (name === "cmd") healthCommand = value;
  }
  return { ...(healthCommand === undefined ? {} : { healthCommand }), others };
}

/** Splits a text into words as a shell does, with quotes and backslashes. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [found] of text.matchAll(/(?:"(?:[^"\\]|\\[\s\S])*"|'[^']*'|\\[\s\S]|[^\s"'\\])+/g)) {
    words.push(
      found.replace(
        /"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|\\([\s\S])/g,
        (_, double?: string, single?: string, escaped?: string) =>
          double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? "",
      ),
    );
  }
  return words;
}

export type Containers = ReturnType<typeof convertContainers>;

/** Returns what the workers need for the images of a job. */
export function notesOfContainers({ image, services }: Containers): WorkflowNote[] {
  const images = Object.values(services ?? {})
    .map((service) => service.image)
    .concat(image ?? []);
  const registries = new Set(images.map((each) => parseImageReference(each).registry));
  return [
    ...(registries.size === 0
      ? []
      : [{ kind: "registries", names: [...registries] } satisfies WorkflowNote]),
    ...(services === undefined
      ? []
      : [
          {
            kind: "text",
            text: "jobs with services and the network need slirp4netns on the worker",
          } satisfies WorkflowNote,
        ]),
  ];
}

/** The commands of a job in an image use the programs of the image, not those of the worker. */
export function noteInImage(note: WorkflowNote, image: string): WorkflowNote {
  switch (note.kind) {
    case "packages":
      return { kind: "text", text: `use an image based on ${image} with ${note.names.join(" ")}` };
    case "own-program":
      return { kind: "text", text: `jobs in ${image} use the image's ${note.program}` };
    case "registries":
    case "text":
      return note;
  }
}

function impossible(reason: string): Fault {
  return new Fault("unimplemented", reason);
}
