import {
  type IsolationOffer,
  isolationOffers,
  isolationOfProperty,
  offered,
} from "#core/isolation-level.ts";
import type { Platform } from "#core/platform.ts";
import { type AttackName, attackNamed, type Defence } from "./attack-list.ts";
import { attacksNotStopped, type Defences } from "./attacks-not-stopped.ts";

/** Without these, a job reaches other jobs or the machine. The others keep it from using the machine up. */
const ofSandbox: ReadonlySet<Defence> = new Set<Defence>([
  "worker",
  "sandbox",
  "own /proc",
  "system-call filter",
  "abstract-socket scope",
  "private network",
]);

/** Attacks with this mark are possible only for jobs with the network. */
const withNetwork = "(network: true)";

/** Returns whether a level stops an attack, for jobs with or without the network. */
function mustStop(offer: IsolationOffer, attack: AttackName): boolean {
  const needsNetwork = attack.endsWith(withNetwork);
  const isOfSandbox = ofSandbox.has(attackNamed(attack).stoppedBy);
  switch (offer) {
    case "sandbox":
      return isOfSandbox && !needsNetwork;
    case "sandbox, network":
      return isOfSandbox;
    case "strict":
      return !needsNetwork;
    case "strict, network":
      return true;
  }
}

/** Returns the levels of isolation that a worker with these defences offers, as properties of its platform. */
export function isolationOf(defences: Defences): Platform {
  const open = attacksNotStopped(defences);
  const names = Object.keys(isolationOffers) as IsolationOffer[];
  return Object.fromEntries(
    names
      .filter((offer) => !open.some((attack) => mustStop(offer, attack)))
      .map((offer) => [isolationOffers[offer], offered]),
  );
}

/** Describes for people which levels a worker offers. */
export function isolationText(defences: Defences): string {
  const levels = Object.keys(isolationOf(defences)).map((name) => isolationOfProperty(name));
  return levels.length === 0 ? "no level" : levels.join(", ");
}
