import { grantCommand, mayDo } from "#access/require-grant.ts";
import type { Signer } from "#access/signed-subject.ts";
import {
  admitPriority,
  branchName,
  type PriorityAdmission,
  type WantedPriority,
} from "./admit-priority.ts";

/** A graph that a principal wants to run. */
export interface WantedOnBranch extends WantedPriority {
  /** The signers whose signatures of the catalog are valid. */
  readonly signers: readonly Signer[];
  /** Whether a job has a patch. */
  readonly customised: boolean;
  /** For signed templates: parameters and switches with a value other than the branch's. */
  readonly chosen?: readonly string[];
  /** The digest of the filled definitions, for the message that says what else can be signed. */
  readonly filled?: string;
  /** The digest to sign, for the message. */
  readonly catalog?: string;
}

/**
 * Decides what may run on a branch, and with which priority; the only place that does.
 *
 * A protected branch runs signed definitions, exactly as they were signed.
 */
export function admit(wanted: WantedOnBranch): PriorityAdmission {
  const refusal = refusedDefinitions(wanted) ?? refusedChoice(wanted) ?? refusedPatch(wanted);
  return refusal === undefined ? admitPriority(wanted) : { ok: false, refusal };
}

function refusedDefinitions({
  branch,
  signers,
  where,
  catalog = "CATALOG",
}: WantedOnBranch): string | undefined {
  if (!branch.protected || signers.length > 0) return undefined;
  return (
    `${branchName(where)} is protected and runs signed definitions only, and no trusted key has signed these: ` +
    `\`grange sign ${catalog} --key FILE\``
  );
}

/**
 * Returns why a choice is refused. Commands may contain values that templates leave open, so on a protected branch only
 * its definition may set them.
 */
function refusedChoice(wanted: WantedOnBranch): string | undefined {
  const { branch, principal, where, chosen = [], filled = "CATALOG" } = wanted;
  if (!branch.protected || chosen.length === 0 || mayDo(principal, "define", where))
    return undefined;
  return (
    `${branchName(where)} is protected, so only its settings can give a value to ${chosen.join(", ")}: ` +
    `omit ${chosen.length === 1 ? "it" : "them"}, ask for \`${grantCommand(principal.name, "define", where)}\`, ` +
    `or have the resulting definitions signed: \`grange sign ${filled} --key FILE\``
  );
}

/** Returns why a job cannot be customised there; undefined when it can, or is not customised. */
export function refusedPatch({
  branch,
  customised,
  principal,
  where,
}: Pick<WantedOnBranch, "branch" | "customised" | "principal" | "where">): string | undefined {
  if (!customised) return undefined;
  const place = branchName(where);
  if (branch.protected) {
    return `${place} is protected and runs definitions as they were signed: customise on another branch, or clone without the changes`;
  }
  if (!branch.customisable) {
    return `the settings of ${place} do not allow customised jobs: use another branch, or clone without the changes`;
  }
  if (mayDo(principal, "customise", where)) return undefined;
  return `${principal.name} may not customise on ${place}: ask for \`${grantCommand(principal.name, "customise", where)}\``;
}
