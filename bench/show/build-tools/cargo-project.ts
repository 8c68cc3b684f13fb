import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFarm } from "../../../test/support/farm.ts";
import { sccacheNeed, sccacheProgram } from "../../../test/support/needs/sccache-need.ts";
import { type Timed, timed } from "../granary/timed.ts";
import { requireNeeds } from "../require-needs.ts";
import { atLeast, forInformation, type Measurement, type Row } from "../row.ts";

const crate = "ripgrep@14.1.1";
const name = `cargo with sccache: ${crate} from crates.io`;

/** A public project, built by cargo on a machine that has nothing but its sources, with the results of another machine. */
export const cargoProject: Measurement = {
  title: "cargo: a public project on a second machine",
  long: true,
  async measure() {
    requireNeeds([sccacheNeed("cargo")]);
    const farm = await startFarm({ workers: 0 });
    const directory = await mkdtemp(join(tmpdir(), "grange-cargo-"));
    try {
      return await rowsOf(farm.url, directory);
    } finally {
      await farm.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function rowsOf(farm: string, directory: string): Promise<Row[]> {
  // The first machine also downloads the sources, which the other two builds find.
  const first = await build(directory, farm);
  const without = await build(directory, undefined);
  const second = await build(directory, farm);
  const seconds = ({ wallMs }: Timed) => `${(wallMs / 1_000).toFixed(1)} s`;
  const how = `cargo install ${crate}, debug build, the same path on both machines, farm on this machine, one run each; without a cache ${seconds(without)}, first machine with its downloads ${seconds(first)}, second machine ${seconds(second)}; programs are linked on each machine`;
  return [
    atLeast(
      `${name}: time saved on a second machine`,
      100 * (1 - second.wallMs / without.wallMs),
      70,
      "%",
      how,
    ),
    forInformation(`${name}: second machine`, second.wallMs / 1_000, "s", how),
  ];
}

/** Builds everything from the beginning, with the caches of a farm if one is given. */
async function build(directory: string, farm: string | undefined): Promise<Timed> {
  for (const made of ["target", "root"])
    await rm(join(directory, made), { recursive: true, force: true });
  const program = sccacheProgram ?? "sccache";
  const cached = {
    CARGO_INCREMENTAL: "0",
    RUSTC_WRAPPER: program,
    SCCACHE_CONF: join(directory, "no-configuration"),
    SCCACHE_SERVER_PORT: String(await freePort()),
    SCCACHE_WEBDAV_ENDPOINT: `${farm}/cache/default/sccache`,
  };
  const install = `cargo install --quiet --debug --locked --root root --target-dir target ${crate}`;
  const script =
    farm === undefined
      ? install
      : `${install}; code=$?; "$RUSTC_WRAPPER" --stop-server >/dev/null 2>&1; exit $code`;
  const run = await timed(["sh", "-c", script], {
    cwd: directory,
    env: { CARGO_HOME: join(directory, "cargo-home"), ...(farm !== undefined && cached) },
  });
  if (run.code !== 0) throw new Error(`cargo ended with ${run.code}: ${run.text.slice(-4_000)}`);
  return run;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
