import { type Command, InvalidArgumentError } from "commander";
import type { DeclaredClass } from "#api/declared-class.ts";
import { memorySizeText, parseMemorySize } from "#core/memory-size.ts";
import type { Platform } from "#core/platform.ts";
import { speaksToServer, withExamples } from "./common-options.ts";
import { platformText } from "./platform-text.ts";
import { answer, type CommonOptions, inSession } from "./session.ts";
import { tableLines } from "./terminal/table.ts";
import { numberFrom } from "./whole-number.ts";

interface NamedOptions extends CommonOptions {
  readonly platform: Platform;
  readonly class: number;
}

interface DeclareOptions extends NamedOptions {
  readonly cpus?: number;
  readonly memory?: number;
  readonly price?: number;
  readonly least?: number;
  readonly most?: number;
  readonly slots?: number;
}

/** Adds `declare`, `undeclare` and `declared` to `grange size-class`. */
export function addDeclareCommands(command: Command): void {
  describeDeclare(command);
  describeUndeclare(command);
  speaksToServer(command.command("declared"))
    .description("list declared size classes")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { autoscalingEndpoints } = await import("#api/endpoints/autoscaling-endpoints.ts");
        const declared = await session.api.call(autoscalingEndpoints.declaredClasses, {});
        return answer(session, options, declared, () => declaredLines(declared));
      }),
    );
}

function describeDeclare(command: Command): void {
  const declare = names(command.command("declare"))
    .description(
      "declare a size class, with or without workers; this replaces an earlier declaration",
    )
    .option("--cpus <number>", "CPUs for one action (default: the number of the class)", amount)
    .option("--memory <size>", "memory for one action, such as 8G (default: no limit)", memory)
    .option("--price <number>", "the price of one second of one slot, in any unit", amount)
    .option(
      "--least <workers>",
      "the smallest number of workers for an autoscaler (default: 0)",
      numberFrom(0, 100_000),
    )
    .option(
      "--most <workers>",
      "the largest number of workers for an autoscaler (default: no limit)",
      numberFrom(0, 100_000),
    )
    .option("--slots <number>", "slots of each worker (default: 1)", numberFrom(1, 1_024))
    .action((options: DeclareOptions) =>
      inSession(options, async (session) => {
        const { autoscalingEndpoints } = await import("#api/endpoints/autoscaling-endpoints.ts");
        const { platform, cpus, memory: memoryBytes, price, least, most, slots } = options;
        const declared = await session.api.call(autoscalingEndpoints.declareClass, {
          body: {
            platform,
            sizeClass: options.class,
            ...(cpus === undefined ? {} : { cpus }),
            ...(memoryBytes === undefined ? {} : { memoryBytes }),
            ...(price === undefined ? {} : { price }),
            ...(least === undefined ? {} : { leastWorkers: least }),
            ...(most === undefined ? {} : { mostWorkers: most }),
            ...(slots === undefined ? {} : { slotsPerWorker: slots }),
          },
        });
        return answer(session, options, declared, () => [
          `Size class ${options.class} of ${platformText(platform)} is declared.`,
        ]);
      }),
    );
  withExamples(declare, [
    [
      "a class of machines that an autoscaler may start, at most ten",
      "size-class declare --platform OSFamily=linux,ISA=x86-64 --class 2 --cpus 2 --memory 8G --price 2 --most 10",
    ],
  ]);
}

function describeUndeclare(command: Command): void {
  names(command.command("undeclare"))
    .description("remove a declaration; existing workers of the class still count")
    .action((options: NamedOptions) =>
      inSession(options, async (session) => {
        const { platform, class: sizeClass } = options;
        const { autoscalingEndpoints } = await import("#api/endpoints/autoscaling-endpoints.ts");
        const declared = await session.api.call(autoscalingEndpoints.undeclareClass, {
          body: { platform, sizeClass },
        });
        return answer(session, options, declared, () => [
          `Size class ${sizeClass} of ${platformText(platform)} is no longer declared.`,
        ]);
      }),
    );
}

function names(command: Command): Command {
  return speaksToServer(command)
    .requiredOption(
      "--platform <properties>",
      "the platform of its workers: OSFamily=linux,ISA=x86-64",
      platform,
    )
    .requiredOption("--class <number>", "the number of the class", numberFrom(1, 1_000_000));
}

function declaredLines(declared: readonly DeclaredClass[]): string[] {
  if (declared.length === 0)
    return ["No size class is declared. All existing ones come from workers."];
  return tableLines([
    ["platform", "class", "cpus", "memory", "price", "workers", "slots", "by"],
    ...declared.map((each) => [
      platformText(each.platform),
      String(each.sizeClass),
      each.cpus === null ? "-" : String(each.cpus),
      each.memoryBytes === null ? "-" : memorySizeText(each.memoryBytes),
      each.price === null ? "-" : String(each.price),
      `${each.leastWorkers} to ${each.mostWorkers ?? "any"}`,
      String(each.slotsPerWorker),
      each.declaredBy,
    ]),
  ]);
}

function platform(text: string): Platform {
  const pairs = text.split(",").map((pair) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(pair));
  const written = pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? "", pair[2] ?? ""]]));
  if (written.length !== pairs.length) {
    throw new InvalidArgumentError("It must be properties such as OSFamily=linux,ISA=x86-64.");
  }
  return Object.fromEntries(written);
}

function memory(text: string): number {
  const bytes = parseMemorySize(text);
  if (bytes !== undefined && bytes > 0) return bytes;
  throw new InvalidArgumentError("It must be an amount of memory such as 8G or 512MiB.");
}

function amount(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError("It must be a number, such as 2 or 0.5.");
}
