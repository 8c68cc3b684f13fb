/**
 * Writes files for dune's store in a separate thread. Renaming a file takes 0.1 ms, or 0.2 ms when the disk is busy,
 * and a build waits for a thousand of them while the granary has more to unpack. The script is JavaScript, because a
 * thread has to be started from a file or a text, and the program is one bundle.
 *
 * Each message is a list of requests with one buffer of bytes. `files` are written in their order: each is written
 * completely under a name that begins with `prefix`, and then renamed. Creating the files in one directory costs a
 * third of creating them in their final directories, each of which is in another part of the disk (ext4).
 */
export const writerScript = String.raw`
"use strict";
const fs = require("node:fs");
const { dirname } = require("node:path");
const { parentPort, workerData } = require("node:worker_threads");
const { prefix } = workerData;
const umask = process.umask();
let counter = 0;

function inDirectoryOf(path, work) {
  try { return work(); } catch (reason) {
    if (reason.code !== "ENOENT") throw reason;
    fs.mkdirSync(dirname(path), { recursive: true });
    return work();
  }
}
function writeAll(fd, bytes) {
  for (let at = 0; at < bytes.byteLength;) at += fs.writeSync(fd, bytes, at);
}
function put(path, bytes, mode) {
  const aside = prefix + "-" + counter++;
  try {
    const fd = inDirectoryOf(aside, () => fs.openSync(aside, "wx", mode));
    try {
      writeAll(fd, bytes);
      // Whatever the umask is: to dune, a mode is part of a file.
      if ((mode & umask) !== 0) fs.fchmodSync(fd, mode);
    } finally { fs.closeSync(fd); }
    inDirectoryOf(path, () => fs.renameSync(aside, path));
  } catch (reason) {
    fs.rmSync(aside, { force: true });
    throw reason;
  }
}
function carryOut({ id, files, directories }, bytes) {
  try {
    for (const path of directories) {
      try { fs.mkdirSync(path); } catch (reason) { if (reason.code !== "EEXIST") throw reason; }
    }
    for (const { path, offset, size, mode } of files) put(path, bytes.subarray(offset, offset + size), mode);
    return { id };
  } catch (reason) {
    return { id, why: String(reason.message), code: reason.code };
  }
}
parentPort.on("message", ({ bytes, asks }) => {
  parentPort.postMessage(asks.map((ask) => carryOut(ask, bytes)));
});
`;
