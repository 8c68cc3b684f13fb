import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { withRustToolchain } from "./rust-toolchain-path.ts";

const home = await mkdtemp(join(tmpdir(), "grange-rustup-"));
afterAll(() => rm(home, { recursive: true, force: true }));
const proxies = join(home, ".cargo/bin");
const toolchain = (name: string) => join(home, ".rustup/toolchains", name, "bin");
await mkdir(proxies, { recursive: true });
await writeFile(join(proxies, "rustup"), "");
for (const name of ["stable-x86_64", "1.75.0-x86_64"])
  await mkdir(toolchain(name), { recursive: true });
await writeFile(join(home, ".rustup/settings.toml"), 'default_toolchain = "stable-x86_64"\n');

test("the default toolchain's programs come before rustup's proxies", () => {
  expect(withRustToolchain(`/opt/bin:${proxies}:/usr/bin`, { HOME: home })).toBe(
    `/opt/bin:${toolchain("stable-x86_64")}:${proxies}:/usr/bin`,
  );
});

test("the toolchain in the environment is used instead of the default", () => {
  const env = { HOME: home, RUSTUP_TOOLCHAIN: "1.75.0-x86_64" };

  expect(withRustToolchain(proxies, env)).toBe(`${toolchain("1.75.0-x86_64")}:${proxies}`);
});

test.each([
  { what: "without rustup on it", path: "/usr/bin:/bin", env: { HOME: home } },
  {
    what: "whose toolchain is not installed",
    path: proxies,
    env: { HOME: home, RUSTUP_TOOLCHAIN: "beta" },
  },
  { what: "of a user without settings of rustup", path: proxies, env: { HOME: "/nonexistent" } },
])("a path $what stays as it is", ({ path, env }) => {
  expect(withRustToolchain(path, env)).toBe(path);
});
