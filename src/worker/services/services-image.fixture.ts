import { readFileSync } from "node:fs";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";
import { findProgram } from "../../../test/support/needs/program.ts";

/** BusyBox with a web server that serves its volume. */
export function imageOfServices() {
  const applets = ["sh", "cat", "touch", "httpd", "wget", "sleep", "ls", "nc", "id", "stat"];
  const ofRoot = ["chown", "chmod", "su", "mount", "mknod"];
  return buildImage(
    [
      tarOf([
        {
          path: "bin/busybox",
          content: readFileSync(findProgram("busybox") ?? "/dev/null"),
          mode: 0o755,
        },
        ...[...applets, ...ofRoot].map((name) => ({
          path: `bin/${name}`,
          type: "2",
          target: "busybox",
        })),
        { path: "srv/www/hello", content: "hello\n" },
        { path: "var/lib/empty", type: "5" },
        { path: "run/state", type: "5", mode: 0o777 },
        { path: "link", type: "2", target: "/var/lib" },
        { path: "etc/passwd", content: "root:x:0:0::/:/bin/sh\nweb:x:900:901::/:/bin/sh\n" },
        { path: "etc/group", content: "root:x:0:\nweb:x:901:\nextra:x:902:web\n" },
      ]),
    ],
    {
      Env: ["PATH=/bin", "OF_IMAGE=yes"],
      Entrypoint: ["/bin/sh", "-c"],
      Cmd: ["pwd; echo $OF_IMAGE $OF_JOB; exec httpd -f -p 8080 -h /srv/www"],
      Volumes: { "/srv/www": {}, "/made/by/volume": {}, "/../../etc": {} },
      ExposedPorts: { "8080/tcp": {}, "53/udp": {} },
      WorkingDir: "/srv",
    },
  );
}
