import { createHash } from "node:crypto";
import { Fault } from "#core/fault.ts";
import { protectedDomain, TrustDomain } from "#core/trust-domain.ts";
import { anyone, type Principal, wholeFarm } from "../principal.ts";
import { mayDo } from "../require-grant.ts";
import { pullOfRef } from "./pull-of-ref.ts";

/** A longer repository name is replaced by its hash. */
const longestName = 200;

/** The facts that the server knows about a commit to build. */
export interface CommitStanding {
  /** The repository by its name on the farm. */
  readonly repository: string;
  /** The branch that it is built for; "" for none. */
  readonly branch: string;
  /**
   * The full ref by which the commit was found: `refs/pull/7/head`, `refs/tags/v1`. Undefined when only the commit id
   * was given.
   */
  readonly ref?: string | undefined;
  /** Whether the server saw the commit on that branch; "nobody watches" when no forge is connected. */
  readonly onBranch: "seen" | "not seen" | "nobody watches";
  readonly by: Principal;
}

/**
 * Returns the trust domain in which a graph of the commit reads and writes.
 *
 * A branch of a repository that is not watched is `protected`: the holder of `submit` there is responsible for the
 * commit.
 */
export function domainFor({ repository, branch, ref, onBranch, by }: CommitStanding): TrustDomain {
  const pull = ref === undefined ? undefined : pullOfRef(ref);
  if (pull !== undefined) return domainOfPull(repository, pull);
  const isNamed = branch !== "" || /^refs\/(heads|tags)\//.test(ref ?? "");
  if (isNamed && onBranch !== "not seen") return protectedDomain;
  return isEverybody(by) ? protectedDomain : domainOfUser(by.name);
}

export function domainOfPull(repository: string, pull: number): TrustDomain {
  const hash = () => createHash("sha256").update(repository).digest("hex");
  return domainNamed(`pr/${pull}@${repository.length > longestName ? hash() : repository}`);
}

export function domainOfUser(name: string): TrustDomain {
  return domainNamed(`user/${name}`);
}

/** Whether the farm has no rules of access, so that all callers are the same. */
function isEverybody(by: Principal): boolean {
  return by.name === anyone && mayDo(by, "administer", wholeFarm);
}

function domainNamed(text: string): TrustDomain {
  const parsed = TrustDomain.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Fault("invalid_argument", `${JSON.stringify(text)} cannot be a trust domain`);
}
