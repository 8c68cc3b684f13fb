import { Fault } from "#core/fault.ts";
import { jobUser } from "#machine/job-owner.ts";
import type { FurtherUsers } from "../further-users.ts";
import { type ContainerUser, idOutside } from "../sandbox/container-user.ts";

/** As whom a service runs. */
export interface UserOfService {
  /** Absent for the user of jobs. */
  readonly user: ContainerUser | undefined;
  /** Why that is not what its image says; for people, after the message that the service failed. */
  readonly note: string;
}

/** The user that a service should have, as `USER` of an image names it. */
interface WantedUser {
  readonly service: string;
  /** `user` of the service, which wins. */
  readonly ofService: string | undefined;
  /** `USER` of its image; empty means root. */
  readonly ofImage: string;
  /** The texts of /etc/passwd and /etc/group of the image. */
  readonly passwd: string;
  readonly group: string;
}

/**
 * Returns the user of a service on this machine.
 *
 * Without further users, a service that does not insist runs as the user of jobs: many images can do that. Throws
 * `invalid_argument` for a user that the image does not have, and `failed_precondition` for one that this machine
 * cannot give.
 */
export function userOfService(wanted: WantedUser, users: FurtherUsers): UserOfService {
  const { service, ofService } = wanted;
  if (ofService === jobUser.name) return { user: undefined, note: "" };
  const named = ofService ?? wanted.ofImage;
  if (users.kind === "one") {
    if (ofService !== undefined)
      throw new Fault(
        "failed_precondition",
        `service ${service} needs the user "${named}", and on this worker services have only one user: ${users.why}`,
      );
    return {
      user: undefined,
      note: `; it ran as the user ${jobUser.name} instead of ${named || "root"}, which its image names, because ${users.why}`,
    };
  }
  const ids = idsOf(named === "" ? "0" : named, wanted);
  for (const id of [ids.uid, ids.gid, ...ids.groups]) {
    if (idOutside(users.ids, id) === undefined)
      throw new Fault(
        "failed_precondition",
        `service ${service} needs the user or group ${id}, and containers on this worker have none with this number`,
      );
  }
  return { user: { ids: users.ids, ...ids }, note: "" };
}

/** Reads `USER` as Docker does: a user, with the user's groups, or `USER:GROUP`. */
function idsOf(
  named: string,
  { service, passwd, group }: WantedUser,
): Pick<ContainerUser, "uid" | "gid" | "groups"> {
  const [user = "", ownGroup] = named.split(":", 2);
  const found = entriesOf(passwd).find(([name, , number]) => name === user || number === user);
  const uid = numberOf(found?.[2]) ?? numberOf(user);
  if (uid === undefined)
    throw new Fault(
      "invalid_argument",
      `service ${service} runs as the user "${user}", and its image has none of this name in /etc/passwd`,
    );
  const groups = entriesOf(group);
  if (ownGroup !== undefined && ownGroup !== "") {
    const [, , number] = groups.find(([name]) => name === ownGroup) ?? [];
    const gid = numberOf(number) ?? numberOf(ownGroup);
    if (gid !== undefined) return { uid, gid, groups: [] };
    throw new Fault(
      "invalid_argument",
      `service ${service} runs with the group "${ownGroup}", and its image has none of this name in /etc/group`,
    );
  }
  const isMember = (members = "") =>
    found?.[0] !== undefined && members.split(",").includes(found[0]);
  const member = groups.filter(([, , , members]) => isMember(members));
  return {
    uid,
    gid: numberOf(found?.[3]) ?? 0,
    groups: member.flatMap(([, , number]) => numberOf(number) ?? []).slice(0, mostGroups),
  };
}

const mostGroups = 32;

function entriesOf(text: string): string[][] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([name]) => name !== undefined && name !== "");
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
