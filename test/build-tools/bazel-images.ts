import { pushImage } from "#images/image-builder.fixture.ts";
import { debianImage } from "../support/debian-image.ts";
import type { DockerRegistry } from "../support/docker-registry.ts";

/** What the actions of genrules and of tests of shell start. */
const packages = ["bash", "coreutils", "dash", "findutils", "grep", "sed"];

const targets = `
genrule(name = "inside", outs = ["inside.txt"], cmd = "cat /etc/image-of-tests > $@")
genrule(
    name = "outside",
    outs = ["outside.txt"],
    cmd = "test ! -e /etc/image-of-tests && echo outside > $@",
    exec_properties = {"container-image": "none"},
)
sh_test(name = "inside_test", size = "small", srcs = ["inside_test.sh"])
`;

const platformsIn = (image: string) => `
platform(
    name = "image",
    parents = ["@local_config_platform//:host"],
    exec_properties = {"container-image": "${image}", "OSFamily": "Linux", "dockerNetwork": "off"},
)
platform(name = "privileged", parents = [":image"], exec_properties = {"dockerPrivileged": "true"})
`;

/** An image in a registry, and a package of a workspace whose actions read a file of the image. */
interface ImageOfTests {
  /** With its digest. */
  readonly pinned: string;
  readonly tagged: string;
  readonly files: Readonly<Record<string, string>>;
}

export async function imageForBazel({ origin, host }: DockerRegistry): Promise<ImageOfTests> {
  const image = debianImage(packages, [], [{ path: "etc/image-of-tests", content: "inside\n" }]);
  await pushImage(origin, "tests/build", "v1", image);
  const pinned = `docker://${host}/tests/build@${image.digest}`;
  return {
    pinned,
    tagged: `docker://${host}/tests/build:v1`,
    files: {
      "platforms/BUILD": platformsIn(pinned),
      "image/BUILD": targets,
      "image/inside_test.sh": "#!/bin/sh\ngrep -q inside /etc/image-of-tests\n",
    },
  };
}
