/**
 * Scripts that run on another machine before the worker's file is there. Each becomes one line, so statements end with
 * a semicolon, and there are no comments inside.
 *
 * The parts in quotes are JavaScript that every Node version understands, because the version is not known yet.
 */

/**
 * Whether another user could have written to `directory`, or still can; throws when it does not exist. A symlink has
 * all permission bits, but only its owner can change it.
 */
const isStrange = `
const fs = require("fs");
const isStrange = () => [fs.lstatSync(directory), fs.statSync(directory)].some((at) =>
  at.isSymbolicLink()
    ? at.uid !== 0 && at.uid !== process.getuid()
    : at.uid !== process.getuid() || (at.mode & 2) !== 0);
`;

/**
 * Prints the paths on the machine, its Node, and whether the file exists: `yes`, `no`, or `strange` for a directory
 * that other users can write to.
 */
export const lookScript = `
case $1 in /*) directory=$1;; *) directory=$HOME/$1;; esac;
version=$(command -v "$2" >/dev/null 2>&1 && "$2" --version 2>/dev/null);
case $version in v[0-9]*) there=$("$2" -e '
  const [directory, digest] = process.argv.slice(-2);
  ${isStrange}
  const answer = () => {
    try { if (isStrange()) return "strange"; } catch (_) { return "no"; }
    try {
      const bytes = fs.readFileSync(directory + "/grange-worker-" + digest + ".mjs");
      const found = require("crypto").createHash("sha256").update(bytes).digest("hex");
      return found === digest ? "yes" : "no";
    } catch (_) { return "no"; }
  };
  process.stdout.write(answer());
' -- "$directory" "$3");; esac;
printf '%s%s\\n%s\\n%s\\n' "$4" "$directory" "$version" "$there";
`;

/** Stores stdin under its digest, if it is complete. */
export const receiveScript = `
exec "$1" -e '
  const [directory, digest] = process.argv.slice(-2);
  ${isStrange}
  const chunks = [];
  process.stdin.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
    const bytes = Buffer.concat(chunks);
    const found = require("crypto").createHash("sha256").update(bytes).digest("hex");
    if (found !== digest) throw new Error("it arrived damaged");
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (isStrange()) throw new Error("it is not only the own directory of the user");
    const part = directory + "/" + process.pid + ".part";
    fs.writeFileSync(part, bytes, { mode: 0o600 });
    fs.renameSync(part, directory + "/grange-worker-" + digest + ".mjs");
  });
' -- "$2" "$3";
`;

/** Replaces the shell by the command in its arguments. */
export const callScript = `exec "$@"`;
