import { describe, expect, test } from "vitest";
import { planServices, type Role, type Scope, type ServiceOptions } from "./plan-services.ts";

const system: Scope = { kind: "system", runAs: "grange" };
const user: Scope = { kind: "user", home: "/home/ada", configHome: "/home/ada/.config" };

function planned(role: Role, options: Partial<ServiceOptions> = {}) {
  const found = planServices({
    roles: [role],
    scope: system,
    grange: ["/usr/bin/node", "/opt/grange/dist/grange.js"],
    settings: {},
    ...options,
  }).find((service) => service.role === role);
  if (found === undefined) throw new Error(`no ${role} was planned`);
  return found;
}

describe("a worker", () => {
  test.each(["ProtectKernel", "ProtectProc", "ProtectControlGroups", "ProtectHostname"])(
    "has no %s setting, which would forbid its sandbox a /proc of its own",
    (setting) => {
      expect(planned("worker").unitText).not.toContain(setting);
    },
  );

  test.each(["RestrictNamespaces", "SystemCallFilter", "PrivateDevices", "UMask"])(
    "has no %s setting, which its jobs would inherit",
    (setting) => {
      expect(planned("worker").unitText).not.toContain(setting);
    },
  );

  test("beside a server uses that server's token and hides its data from jobs", () => {
    const { unitText, environment } = planned("worker", { roles: ["server", "worker"] });

    expect(unitText).toContain("--hide /var/lib/grange/server");
    expect(unitText).toContain("--token-file /var/lib/grange/server/worker-token");
    expect(unitText).toContain("After=grange-server.service");
    expect(environment).toEqual({ GRANGE_SERVER: "http://127.0.0.1:8980" });
  });

  test("of a farm elsewhere has its token in the environment file, not in the unit", () => {
    const { unitText, environmentText } = planned("worker", {
      server: "https://farm:8980",
      token: "grange_secret",
    });

    expect(unitText).not.toContain("grange_secret");
    expect(environmentText).toContain("GRANGE_WORKER_TOKEN=grange_secret\n");
    expect(environmentText).toContain("GRANGE_SERVER=https://farm:8980\n");
  });
});

test("no unit forbids memory that is written and executed: Node compiles JavaScript", () => {
  for (const role of ["server", "worker"] as const) {
    expect(planned(role).unitText).not.toContain("MemoryDenyWriteExecute");
  }
});

test("a user's services lie in the user's directories and need no rights of root", () => {
  const { unitFile, environmentFile, unitText } = planned("server", { scope: user });

  expect(unitFile).toBe("/home/ada/.config/systemd/user/grange-server.service");
  expect(environmentFile).toBe("/home/ada/.config/grange/server.env");
  expect(unitText).toContain("--data /home/ada/.local/share/grange/server");
  expect(unitText).toContain("WantedBy=default.target");
  expect(unitText).not.toMatch(/^(?:User|StateDirectory|Protect\w+|CapabilityBoundingSet)=/m);
});

test("a granary of the machine is refused, as it serves one user's builds", () => {
  expect(() => planned("granary")).toThrow("install it with");
  expect(planned("granary", { scope: user }).unitText).toContain("grange.js granary\n");
});

test("a farm elsewhere and a server here exclude each other", () => {
  expect(() => planned("server", { server: "https://farm:8980" })).toThrow(
    "--server names another farm",
  );
});
