import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { compareByCodePoint } from "#cas/tree-entry.ts";
import { type ActionService, servicesText } from "#core/action-services.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { isolationProperty } from "#core/isolation-level.ts";
import { type JobRights, rightsText } from "#core/job-rights.ts";
import { parseMemorySize } from "#core/memory-size.ts";
import {
  imageProperty,
  imagesOffer,
  type Platform,
  rulesProperty,
  secretsProperty,
  servicesProperty,
  tokenProperty,
} from "#core/platform.ts";
import { type SecretReference, secretsText } from "#core/secret-reference.ts";
import { parseDuration } from "#definitions/duration.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import {
  type RequestedSizeClasses,
  requestedSizeClasses,
} from "#execution/sizing/requested-size-classes.ts";
import {
  ActionSchema,
  CommandSchema,
  PlatformSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { jobScript } from "./job-script.ts";
import { rulesOfAction } from "./rules-of-action.ts";

/** The timeout of a job without a `timeout`, in ms. */
const defaultTimeoutMs = 3_600_000;

/** A blob and its name. */
export interface NamedBlob {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

/** A job as an REv2 action: equal jobs with equal inputs have equal digests, whatever the commit. */
export interface BuiltAction {
  readonly action: NamedBlob;
  readonly command: NamedBlob;
  /** The requirements for the queue, without the rules and services, which may be long. */
  readonly platform: Platform;
  readonly sizeClasses: RequestedSizeClasses;
  readonly timeoutMs: number;
}

/**
 * Throws `invalid_argument` for size classes that exclude each other.
 *
 * Without the secrets and rights that it names, a job becomes an action that is never run: useful only for comparison.
 */
export function buildAction(
  job: JobDefinition,
  inputRoot: Digest,
  secrets?: readonly SecretReference[],
  rights?: JobRights,
): BuiltAction {
  const platform = platformOf(job);
  const rules = rulesOfAction(job);
  const instructed = {
    ...platform,
    ...(rules === undefined ? {} : { [rulesProperty]: rules }),
    ...servicesOf(job),
    ...secretsOf(job, secrets),
    ...rightsOf(job, rights),
  };
  const platformMessage = create(PlatformSchema, {
    properties: sorted(instructed).map(([name, value]) => ({ name, value })),
  });
  const command = named(
    toBinary(
      CommandSchema,
      create(CommandSchema, {
        arguments: ["/bin/sh", "-c", jobScript(job)],
        environmentVariables: sorted(job.environment ?? {}).map(([name, value]) => ({
          name,
          value,
        })),
        outputPaths: [...new Set(job.outputs ?? [])].toSorted(compareByCodePoint),
        platform: platformMessage,
      }),
    ),
  );
  const timeoutMs = parseDuration(job.timeout ?? "") ?? defaultTimeoutMs;
  const action = named(
    toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest: toDigestMessage(command.digest),
        inputRootDigest: toDigestMessage(inputRoot),
        timeout: durationFromMs(timeoutMs),
        platform: platformMessage,
      }),
    ),
  );
  return { action, command, platform, sizeClasses: requestedSizeClasses(platform), timeoutMs };
}

function secretsOf(job: JobDefinition, given: readonly SecretReference[] = []): Platform {
  // This is also checked when definitions are read, but a customised job is not read there.
  if (job.platform?.[secretsProperty] !== undefined) {
    throw new Fault("invalid_argument", `only the farm itself may set ${secretsProperty}`);
  }
  if (given.length > 0) return { [secretsProperty]: secretsText(given) };
  const named = job.secrets ?? [];
  return named.length === 0
    ? {}
    : { [secretsProperty]: named.toSorted(compareByCodePoint).join(" ") };
}

/** The time in which a service must be ready, in ms, when its definition says nothing. */
const defaultReadyMs = 60_000;

function servicesOf({ services }: JobDefinition): Platform {
  if (services === undefined) return {};
  const listed = Object.entries(services)
    .toSorted(([a], [b]) => compareByCodePoint(a, b))
    .map(([name, service]): ActionService => {
      const { timeout = "", ...ready } = service.ready ?? {};
      return {
        name,
        image: service.image,
        environment: service.environment ?? {},
        ...(service.command === undefined ? {} : { arguments: service.command }),
        ...(ready.port === undefined && ready.command === undefined ? {} : { ready }),
        readyTimeoutMs: parseDuration(timeout) ?? defaultReadyMs,
        writable: service.writable ?? [],
        ...(service.user === undefined ? {} : { user: service.user }),
      };
    });
  return { [servicesProperty]: servicesText(listed) };
}

function rightsOf(job: JobDefinition, given: JobRights | undefined): Platform {
  if (job.platform?.[tokenProperty] !== undefined) {
    throw new Fault("invalid_argument", `only the farm itself may set ${tokenProperty}`);
  }
  if (given !== undefined) return { [tokenProperty]: rightsText(given) };
  const named = [...(job.caches === true ? ["caches"] : []), ...(job.identity ?? [])];
  return named.length === 0 ? {} : { [tokenProperty]: named.join(" ") };
}

function platformOf(job: JobDefinition): Platform {
  const memory = parseMemorySize(job.limits?.memory ?? "");
  const outputs = parseMemorySize(job.limits?.outputs ?? "");
  return {
    ...job.platform,
    ...(job.image === undefined ? {} : { [imageProperty]: withScheme(job.image) }),
    ...(job.services === undefined ? {} : { [imagesOffer]: "oci" }),
    ...(job.network === true ? { network: "on" } : {}),
    ...(job.isolation === undefined ? {} : { [isolationProperty]: job.isolation }),
    ...(job.limits?.cpus === undefined ? {} : { cpus: String(job.limits.cpus) }),
    ...(memory === undefined ? {} : { memory: String(memory) }),
    ...(outputs === undefined ? {} : { outputs: String(outputs) }),
  };
}

/** As build tools write it, so that their actions are the same. */
function withScheme(image: string): string {
  return image.startsWith("docker://") ? image : `docker://${image}`;
}

function sorted(record: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(record).toSorted(([a], [b]) => compareByCodePoint(a, b));
}

function named(bytes: Uint8Array): NamedBlob {
  return { digest: digestOf(bytes), bytes };
}
