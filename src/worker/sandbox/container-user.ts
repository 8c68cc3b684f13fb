import { jobOwner } from "#machine/job-owner.ts";
import { type HostProgram, hostProgram } from "./host-programs.ts";

/** User ids of a container and what they are outside; the same numbers are group ids. */
export interface IdRange {
  readonly inside: number;
  readonly outside: number;
  readonly count: number;
}

/** A user of a container that has several: root and others. */
export interface ContainerUser {
  /** Its first range is that of root alone, who is the user that jobs run as. */
  readonly ids: readonly IdRange[];
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/** Returns what an id of a container is outside; undefined for one that no range has. */
export function idOutside(ids: readonly IdRange[], id: number): number | undefined {
  const range = ids.find(({ inside, count }) => id >= inside && id < inside + count);
  return range && range.outside + id - range.inside;
}

/**
 * What root of a container may do with the container's own files and processes: the default of Docker without devices,
 * raw sockets and audit. With more, such as CAP_SYS_ADMIN, it would reach parts of the kernel that other jobs do not.
 */
const rightsOfRoot = [
  "chown",
  "dac_override",
  "fowner",
  "fsetid",
  "kill",
  "net_bind_service",
  "setgid",
  "setpcap",
  "setuid",
  "sys_chroot",
];

/**
 * Returns the prefix of a command that makes a user namespace with several users, and runs the command as one of them.
 * It begins with the rights of `mappingRights`; afterwards the namespace of the mounts is out of reach.
 *
 * bubblewrap forbids new rights, so the namespace's root gets them by inheritance (`--keep-caps`), not by an exec.
 */
export function asContainerUser(
  { ids, uid, gid, groups }: ContainerUser,
  command: (program: HostProgram) => readonly string[] = (program) => [hostProgram(program)],
): string[] {
  const map = ids.map(({ inside, outside, count }) => `${inside} ${outside} ${count}`).join("\n");
  const supplementary = groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`;
  return [
    [...command("sh"), "-c", mapScript, "sh", command("cat").join(" "), map],
    jobOwner === undefined
      ? []
      : [
          ...command("setpriv"),
          `--reuid=${jobOwner.uid}`,
          `--regid=${jobOwner.gid}`,
          "--clear-groups",
          "--",
        ],
    [...command("unshare"), "--user", "--keep-caps", "--"],
    [...command("sh"), "-c", waitScript, "sh"],
    [
      ...command("setpriv"),
      `--bounding-set=-all,${rightsOfRoot.map((right) => `+${right}`).join(",")}`,
      "--inh-caps=-all",
      "--ambient-caps=-all",
      "--no-new-privs",
      "--",
    ],
    uid === 0 && gid === 0 && groups.length === 0
      ? []
      : [...command("setpriv"), `--reuid=${uid}`, `--regid=${gid}`, supplementary, "--"],
  ].flat();
}

/** The capabilities with which `asContainerUser` begins: only a process outside of a user namespace can map its ids. */
export const mappingRights = [
  "CAP_SETUID",
  "CAP_SETGID",
  // Writes to the map of a namespace that belongs to another user.
  "CAP_SYS_ADMIN",
  "CAP_DAC_OVERRIDE",
] as const;

/** The name that the process gives itself in /proc when its ids can be mapped. */
const readyName = "grange-to-map";

/**
 * Maps the ids of the user namespace that this process will make, from a second process.
 *
 * It waits until the shell of `waitScript` has started. A shell that starts compares its real user with its effective
 * user; if the ids were mapped between the two calls, they would differ, and the shell would give up its rights. The
 * number of the process is read from /proc, which may be that of another pid namespace. The second process is not its
 * child: a service must not find children that it did not start. A map must come in one write, and bash writes each
 * line alone.
 */
const mapScript = `
cat=$1 map=$2; shift 2
read -r self _ </proc/self/stat
( (
  write() {
    $cat >"/proc/$self/$1" <<MAP
$map
MAP
  }
  until read -r name <"/proc/$self/comm" && [ "$name" = ${readyName} ]; do
    [ -e "/proc/$self" ] || exit
  done
  write gid_map
  write uid_map
) 2>/dev/null & )
exec "$@"`;

/** More attempts than a loaded machine needs; they take some seconds. */
const mostAttempts = 500_000;

const waitScript = `
echo ${readyName} >/proc/self/comm || exit 125
attempts=0
until read -r _ </proc/self/uid_map; do
  attempts=$((attempts+1))
  [ $attempts -lt ${mostAttempts} ] || { echo "grange: the users of the container cannot be mapped" >&2; exit 125; }
done
exec "$@"`;
