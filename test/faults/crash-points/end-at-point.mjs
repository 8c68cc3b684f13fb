// Ends this process by SIGKILL before or after its n-th call of one kind. A test loads it with `--import` into a program
// of the farm, which itself has no such code. GRANGE_TEST_CRASH names the point: KIND:SIDE:N, such as `commit:after:12`.
import childProcess from "node:child_process";
import fs from "node:fs";
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { Duplex } from "node:stream";
import { isMainThread } from "node:worker_threads";

const [kind, side, position] = (process.env.GRANGE_TEST_CRASH ?? "").split(":");
// Programs that this one starts are not meant.
delete process.env.GRANGE_TEST_CRASH;
delete process.env.NODE_OPTIONS;
let callsLeft = Number(position);

/** @param {string} called */
function isPoint(called) {
  return called === kind && --callsLeft === 0;
}

/** The signal arrives before the next statement; the wait is for the case that it does not. */
function end() {
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/**
 * Replaces a method by one that has points before and after it.
 *
 * @param {object} owner
 * @param {string} name
 * @param {string} called
 */
function addPoints(owner, name, called) {
  const original = owner[name];
  owner[name] = function (...args) {
    const isHere = isPoint(called);
    if (isHere && side === "before") end();
    const result = original.apply(this, args);
    if (!isHere) return result;
    // The caller has not gone on yet when its promise has settled.
    if (result instanceof Promise) return result.finally(end);
    return end();
  };
}

/** Ends the process when the next bytes that `isAnswer` accepts arrive, before the program gets them. */
function endAtAnswer(socket, isAnswer) {
  const push = socket.push;
  socket.push = function (chunk, ...rest) {
    if (chunk !== null && isAnswer(Buffer.from(chunk))) end();
    return push.call(this, chunk, ...rest);
  };
}

/** The file system: names and syncs. */
async function watchFiles() {
  addPoints(fs.promises, "rename", "rename");
  addPoints(fs, "renameSync", "rename");
  const handle = await fs.promises.open(process.execPath);
  for (const name of ["sync", "datasync"]) addPoints(Object.getPrototypeOf(handle), name, "fsync");
  await handle.close();
  // The store syncs its whole file system through a shell, with a line for each sync.
  const { spawn } = childProcess;
  childProcess.spawn = (...args) => {
    const child = spawn(...args);
    if (!JSON.stringify(args[1] ?? []).includes("sync -f")) return child;
    const { write } = child.stdin;
    child.stdin.write = function (...bytes) {
      if (isPoint("fsync")) {
        if (side === "before") end();
        endAtAnswer(child.stdout, () => true);
      }
      return write.apply(this, bytes);
    };
    return child;
  };
}

const startup = 196_608;
const commitText = Buffer.from("commit\0");
const commitAnswer = Buffer.from("COMMIT\0");
/** @type {WeakSet<object>} */
const databases = new WeakSet();

/** Sockets: commits of connections to PostgreSQL, and everything that is sent to others. */
function watchSockets() {
  const { _writeGeneric: writeGeneric } = net.Socket.prototype;
  net.Socket.prototype._writeGeneric = function (isMany, data, ...rest) {
    const bytes = Buffer.concat(
      (isMany ? data.map(({ chunk }) => chunk) : [data]).map((chunk) => Buffer.from(chunk)),
    );
    if (bytes.length >= 8 && bytes.readInt32BE(4) === startup) databases.add(this);
    const write = () => writeGeneric.call(this, isMany, data, ...rest);
    if (databases.has(this)) {
      if (bytes.includes(commitText) && isPoint("commit")) {
        if (side === "before") end();
        endAtAnswer(this, (answer) => answer.includes(commitAnswer));
      }
      return write();
    }
    // Lines on standard output and error are not messages.
    const isHere = this.fd !== 1 && this.fd !== 2 && isPoint("send");
    if (isHere && side === "before") end();
    const result = write();
    if (isHere) end();
    return result;
  };
  // HTTP/2 writes past the methods of its socket.
  const idle = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const session = http2.connect("http://localhost", { createConnection: () => idle });
  session.on("error", () => {});
  const stream = session.request();
  stream.on("error", () => {});
  const base = Object.getPrototypeOf(Object.getPrototypeOf(stream));
  for (const name of ["_write", "_writev"]) addPoints(base, name, "send");
  session.destroy();
}

if (isMainThread && kind !== "") {
  await watchFiles();
  watchSockets();
  syncBuiltinESMExports();
}
