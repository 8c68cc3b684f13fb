// A process that has loaded the packages of a program, and waits for the program itself.
// It is started before there is a new build; half of a server's start is the loading of packages.
import { pathToFileURL } from "node:url";

const [program, packages, ...args] = process.argv.slice(2);
for (const name of JSON.parse(packages)) {
  // A package that cannot be loaded is reported by the program that needs it.
  await import(name).catch(() => {});
}
process.once("message", () => {
  // Node fails if a channel is closed within the handler of its last message.
  setImmediate(() => process.disconnect());
  process.argv = [process.execPath, program, ...args];
  void import(pathToFileURL(program).href);
});
