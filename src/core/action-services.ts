import { z } from "zod";
import { canonicalJson } from "./canonical-json.ts";
import { Fault } from "./fault.ts";
import { imageKeyOf, type Platform, servicesProperty } from "./platform.ts";

const ActionService = z.strictObject({
  /** The host name under which the command of the action reaches it. */
  name: z.string().regex(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/),
  image: z.string().min(1).max(1_024),
  environment: z.record(z.string().regex(/^[^=\0]+$/), z.string()),
  /** Arguments of the image's entry point; absent: those of the image. */
  arguments: z.array(z.string()).optional(),
  /** Absent: ready when it listens on the first TCP port that the image exposes, or at once when there is none. */
  ready: z
    .strictObject({
      port: z.number().int().min(1).max(65_535).optional(),
      command: z.string().min(1).optional(),
    })
    .optional(),
  readyTimeoutMs: z.number().int().positive().max(3_600_000),
  /** Directories of the image in which it may write, besides volumes of the image. */
  writable: z.array(z.string().startsWith("/")).max(64),
  /** A user of the image, as `USER` names it; absent: that of the image. */
  user: z.string().min(1).max(256).optional(),
});
/** A program in a container image that runs beside the command of an action. */
export type ActionService = z.infer<typeof ActionService>;

const ActionServices = z.array(ActionService).max(16);

/** Returns the same text for equal services: it is part of the action's digest. */
export function servicesText(services: readonly ActionService[]): string {
  return canonicalJson(services);
}

/** Returns the services of an action. Throws `invalid_argument` for a text that lists none. */
export function servicesIn(platform: Platform): readonly ActionService[] {
  const text = platform[servicesProperty];
  if (text === undefined) return [];
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Fault("invalid_argument", `the property ${servicesProperty} is not JSON`);
  }
  const parsed = ActionServices.safeParse(json);
  if (!parsed.success)
    throw new Fault(
      "invalid_argument",
      `the property ${servicesProperty} is wrong: ${z.prettifyError(parsed.error)}`,
    );
  const names = parsed.data.map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw new Fault("invalid_argument", "two services of the action have the same name");
  return parsed.data;
}

/** Returns `imageKeyOf` of the images of an action's services, each once; none for a text that lists no services. */
export function serviceImageKeys(platform: Platform): string[] {
  try {
    return [...new Set(servicesIn(platform).flatMap(({ image }) => imageKeyOf(image) ?? []))];
  } catch {
    // The worker refuses the action with the reason.
    return [];
  }
}

/** The directory in the outputs of an action for the logs of its services. */
const logsDirectory = ".grange-services";

/** The path of a service's log among the outputs of its action. */
export function serviceLogPath(name: string): string {
  return `${logsDirectory}/${name}.log`;
}

/**
 * Whether an output is the log of a service. It differs from run to run: other jobs do not get it, and it does not make
 * the outputs of two runs different.
 */
export function isServiceLog(path: string): boolean {
  return path.startsWith(`${logsDirectory}/`);
}
