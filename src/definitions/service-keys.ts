import { z } from "zod";
import { parseImageReference } from "#images/image-reference.ts";
import { durationWithin } from "./duration.ts";
import { oneOrMany } from "./one-or-many.ts";

/** More than a test needs; each is a sandbox of its own. */
const mostServices = 16;

const text = z.string().max(16 * 1024, "a text has at most 16,384 characters");
const argument = z
  .union([text, z.number(), z.boolean()], { error: "must be a text, a number, true or false" })
  .transform(String);

/** The name of a container image, as `image` and `services` write it. */
export const ImageName = z
  .string({ error: 'must be the name of a container image such as "debian:12"' })
  .refine(
    isImage,
    'must be the name of a container image such as "debian:12" or "ghcr.io/me/tool@sha256:…"',
  );

const AbsolutePath = z
  .string()
  .max(1_024, "a path has at most 1,024 characters")
  .regex(
    /^(?!.*\/\.{1,2}(?:\/|$))(?:\/[^/\0\n]+)+$/,
    "must be an absolute path without . and .. in it, such as /var/lib/mysql",
  );

const Ready = z
  .strictObject({
    port: z
      .number({ error: "must be a TCP port such as 5432" })
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe("The TCP port on which the service then listens."),
    command: text
      .min(1)
      .optional()
      .describe("A command for /bin/sh of its image, which succeeds when the service is ready."),
    timeout: durationWithin(1_000, 3_600_000, "1s to 1h")
      .optional()
      .describe("After this time without success the job fails. Default: 60s."),
  })
  .refine(
    ({ port, command }) => port === undefined || command === undefined,
    'name one of "port" and "command"',
  );

const Service = z.strictObject({
  image: ImageName.describe("The container image of the service."),
  environment: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name has letters, digits and _ only"),
      argument,
    )
    .optional()
    .describe("Variables of the service, besides those of its image."),
  command: oneOrMany(argument, "an argument")
    .optional()
    .describe("The arguments of the image's entry point, in place of those in the image."),
  ready: Ready.optional().describe(
    "When the commands of the job may begin. Default: when the service listens on the first TCP port that its image exposes.",
  ),
  writable: oneOrMany(AbsolutePath, "an absolute path")
    .refine((paths) => paths.length <= 32, "name at most 32 directories")
    .optional()
    .describe(
      "Directories of the image in which the service writes, besides its volumes, /tmp, /run and /var/tmp.",
    ),
  user: z
    .union([z.string(), z.number().int().nonnegative()], {
      error: "must be a user of the image such as root, postgres or 999:999",
    })
    .transform(String)
    .refine(
      (user) => /^[\w.-]{1,64}(:[\w.-]{1,64})?$/.test(user),
      "must be a user of the image such as root, postgres or 999:999",
    )
    .optional()
    .describe(
      "The user that runs the service, by name or number, or USER:GROUP; grange is the user of jobs. Default: that of the image.",
    ),
});
type Service = z.output<typeof Service>;

const ServiceName = z
  .string()
  .regex(
    /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/,
    "a service's name is the name of a host: lower-case letters, digits and -, with a letter in front",
  )
  .refine((name) => name !== "localhost" && name !== "grange", "this name means the job itself");

export const Services = z
  .record(
    ServiceName,
    z.union([ImageName.transform((image): Service => ({ image })), Service], {
      error: messageOfService,
    }),
  )
  .refine(
    (services) => Object.keys(services).length <= mostServices,
    `a job has at most ${mostServices} services`,
  )
  .describe(
    "Programs in container images that run beside the job, such as a database. Commands reach each under its name. Example: db: postgres:17",
  );

interface JobWithServices {
  readonly services?: Readonly<Record<string, unknown>> | undefined;
  readonly outside?: boolean | undefined;
}

export function problemsOfServices({ services, outside }: JobWithServices) {
  if (services === undefined || outside !== true) return [];
  const message = "a job that another machine runs is given no services";
  return [{ path: ["services"], message }];
}

function isImage(name: string): boolean {
  try {
    parseImageReference(name);
    return true;
  } catch {
    return false;
  }
}

/** For a union without a match, the problem of the alternative with the same type. */
function messageOfService(issue: z.core.$ZodRawIssue): string {
  const usual = "must be the name of a container image, or a map with image";
  if (issue.code !== "invalid_union" || !("errors" in issue)) return usual;
  const branches = issue.errors as z.core.$ZodIssue[][];
  const near = branches.find((found) =>
    found.every((one) => one.code !== "invalid_type" || one.path.length > 0),
  );
  const [first] = near ?? [];
  if (first === undefined) return usual;
  return first.path.length === 0 ? first.message : `${first.path.join(".")}: ${first.message}`;
}
