import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { needs } from "../../support/needs/needs.ts";
import {
  buildThrough,
  commitAll,
  type DuneMachine,
  dune,
  duneMachine,
  duneTwo,
  executed,
} from "./dune-machine.ts";
import { smallToy, writeToyProject } from "./toy-project.ts";

/**
 * dune's outputs are stored while dune is idle or after its end: nothing may be lost through this
 * delay.
 */
describe("results of a real dune 2", { ...needs(duneTwo) }, () => {
  let work: string;
  let machine: DuneMachine;
  let root: string;
  let serial = 0;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), "grange-kept-"));
  });
  afterAll(() => rm(work, { recursive: true, force: true }));
  beforeEach(async () => {
    root = join(work, `toy${serial++}`);
    await writeToyProject(root, smallToy);
    await commitAll(root);
    machine = await duneMachine();
    return () => machine.remove();
  });

  const clean = () => rm(join(root, "_build"), { recursive: true, force: true });

  async function attach() {
    const build = machine.startBuild(undefined);
    const where = { variables: machine.variables, directory: root, waits: true };
    const attached = await machine.server.attach(build, where);
    if (attached === undefined) throw new Error("the granary takes no part");
    return { build, attached, variables: { ...machine.variables, ...attached.settings } };
  }

  test("are stored if they are deleted directly after dune's end", async () => {
    const { build, attached, variables } = await attach();
    expect((await dune(root, variables)).code).toBe(0);
    await clean();

    await attached.learn();
    const tally = await attached.finish();

    expect(tally.made).toBeGreaterThan(20);
    expect(build.made.size).toBe(tally.made);
    expect((await buildThrough(machine, root)).executed).toBe(0);
  });

  test("are recorded as used if the build directory is deleted before all are stored", async () => {
    await buildThrough(machine, root);
    await clean();
    const { build, attached, variables } = await attach();
    await dune(root, variables);

    const told = await attached.learn();
    await clean();
    const tally = await attached.finish();

    expect(told).toEqual({ made: 0, used: tally.used });
    expect(tally.used).toBeGreaterThan(20);
    expect(build.asked.size).toBe(tally.used);
  });

  test("are found by the next dune of the same build", async () => {
    const { attached, variables } = await attach();
    await dune(root, variables);
    await clean();

    expect((await dune(root, variables)).code).toBe(0);

    expect(await executed(root)).toBe(0);
    await attached.learn();
    await attached.finish();
  });

  test("are found by the dune of another build that starts before they are stored", async () => {
    const { attached, variables } = await attach();
    await dune(root, variables);
    await attached.learn();
    await clean();
    const other = await attach();

    const [ran] = await Promise.all([dune(root, other.variables), attached.finish()]);

    expect(ran.code).toBe(0);
    expect(await executed(root)).toBe(0);
    await other.attached.learn();
    await other.attached.finish();
  });

  test("have no second file name after they are stored", async () => {
    await buildThrough(machine, root);

    expect(await readdir(join(machine.directory, "cache/dune/db/grange-temp"))).toEqual([]);
  });
});
