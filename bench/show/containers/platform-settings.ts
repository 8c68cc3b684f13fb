/**
 * Platform properties and flags of remote execution in the forms that public projects, and the guides of public services,
 * use. The values are our own; images stand for those that such projects name.
 */
export interface PlatformSettings {
  /** Who sets properties so. */
  readonly of: string;
  readonly platform: Readonly<Record<string, string>>;
  /** `--remote_instance_name`. */
  readonly instanceName?: string;
  /** `--digest_function`. */
  readonly digestFunction?: "SHA256" | "BLAKE3" | "SHA1";
  /** `--remote_execution_priority`. */
  readonly priority?: number;
  /** A part of the message that says why it cannot run; absent where it runs unchanged. */
  readonly refused?: string;
}

/** Stands for a digest of the image that the show pushes under each name. */
export const anyDigest = "@sha256:ANY";

/** The registries of all images below; the show's worker has a mirror for each. */
export const publicRegistries = ["docker.io", "gcr.io", "ghcr.io", "quay.io", "us-docker.pkg.dev"];

const linux = { OSFamily: "Linux" };
const lower = { OSFamily: "linux" };
const rbe = `docker://gcr.io/cloud-marketplace/google/rbe-ubuntu22-04${anyDigest}`;
const ubuntu = "docker://docker.io/library/ubuntu:22.04";
const rbeImage = { "container-image": rbe };
const tool = (path: string) => ({ "container-image": `docker://${path}${anyDigest}` });

export const platformSettings: readonly PlatformSettings[] = [
  { of: "Bazel, without properties", platform: {} },
  { of: "Bazel, the platform of a default toolchain", platform: linux },
  { of: "generated toolchains for RBE", platform: { ...rbeImage, ...linux } },
  { of: "RBE with the default pool", platform: { ...rbeImage, ...linux, Pool: "default" } },
  {
    of: "RBE, network closed",
    platform: { ...rbeImage, ...linux, dockerNetwork: "off" },
  },
  {
    of: "RBE, network open",
    platform: { ...rbeImage, ...linux, dockerNetwork: "standard" },
  },
  {
    of: "RBE, a large pool for linking",
    platform: { ...rbeImage, ...linux, Pool: "large" },
    refused: "Pool=large",
  },
  {
    of: "RBE, a type of machine",
    platform: { ...rbeImage, gceMachineType: "n1-highmem-8" },
    refused: "gceMachineType",
  },
  {
    of: "an RPC library: debuggers in tests",
    platform: { ...rbeImage, ...linux, dockerAddCapabilities: "SYS_PTRACE" },
    refused: "dockerAddCapabilities",
  },
  {
    of: "an RPC library: privileged tests",
    platform: { ...rbeImage, ...linux, dockerPrivileged: "true" },
    refused: "dockerPrivileged",
  },
  {
    of: "a machine-learning framework: CPU",
    platform: {
      ...tool("gcr.io/tensorflow-testing/nosla-ubuntu22-manylinux"),
      ...linux,
      "cache-silo-key": "cpu",
    },
  },
  {
    of: "a machine-learning framework: GPU",
    platform: {
      ...tool("gcr.io/tensorflow-testing/nosla-cuda12"),
      ...linux,
      Pool: "gpu-pool",
      dockerRuntime: "nvidia",
    },
    refused: "Pool=gpu-pool",
  },
  {
    of: "a proxy: build image",
    platform: { ...tool("docker.io/envoyproxy/envoy-build-ubuntu"), ...linux },
  },
  {
    of: "a proxy: coverage in a pool of its own",
    platform: { ...tool("docker.io/envoyproxy/envoy-build-ubuntu"), Pool: "6gig" },
    refused: "Pool=6gig",
  },
  {
    of: "a browser: compile actions",
    platform: {
      ...tool("gcr.io/chops-public-images-prod/rbe/siso-chromium/linux"),
      "label:action_default": "1",
    },
    refused: "label:action_default",
  },
  {
    of: "a browser: actions in an image, users not set",
    platform: {
      ...tool("gcr.io/chops-public-images-prod/rbe/siso-chromium/linux"),
      ...linux,
      dockerRuntime: "runsc",
      dockerUser: "nobody",
    },
  },
  {
    of: "a mobile operating system: wrappers of compilers",
    platform: { ...tool("gcr.io/androidbuild-re-dockerimage/android-build-remoteexec-image") },
    instanceName: "projects/android/instances/default_instance",
  },
  {
    of: "BuildBuddy, the platform of its toolchain",
    platform: { ...lower, Arch: "amd64", ...tool("gcr.io/flame-public/rbe-ubuntu22-04") },
  },
  {
    of: "BuildBuddy, for arm64",
    platform: { ...lower, Arch: "arm64", ...tool("gcr.io/flame-public/rbe-ubuntu22-04") },
    refused: "ISA=aarch64",
  },
  {
    of: "BuildBuddy, sizes of tests",
    platform: { ...lower, EstimatedComputeUnits: "4", EstimatedMemory: "8GB" },
  },
  {
    of: "BuildBuddy, runners that are used again",
    platform: { ...lower, "recycle-runner": "true", "preserve-workspace": "true" },
  },
  {
    of: "BuildBuddy, own executors",
    platform: { ...lower, "use-self-hosted-executors": "true", Pool: "default" },
  },
  {
    of: "BuildBuddy, rootless Podman",
    platform: { ...lower, "workload-isolation-type": "podman", "container-image": ubuntu },
  },
  {
    of: "BuildBuddy, virtual machines with Docker",
    platform: { ...lower, "workload-isolation-type": "firecracker", "init-dockerd": "true" },
    refused: "init-dockerd",
  },
  {
    of: "BuildBuddy, secrets of the organization",
    platform: { ...lower, "include-secrets": "true" },
    refused: "include-secrets",
  },
  {
    of: "BuildBuddy, a test with the network of Docker's bridge",
    platform: { ...lower, dockerNetwork: "bridge" },
  },
  {
    of: "EngFlow, an image for all platforms",
    platform: { ...tool("us-docker.pkg.dev/engflow-public/tools/ubuntu"), Pool: "default" },
  },
  {
    of: "EngFlow, root in the container",
    platform: { "container-image": ubuntu, dockerRunAsRoot: "true" },
    refused: "dockerRunAsRoot",
  },
  {
    of: "EngFlow, Docker inside of actions",
    platform: { "container-image": ubuntu, dockerSiblingContainers: "true" },
    refused: "dockerSiblingContainers",
  },
  {
    of: "Buildbarn, the image of its example",
    platform: { ...lower, ...tool("ghcr.io/catthehacker/ubuntu") },
    instanceName: "fuse",
  },
  {
    of: "Buildbarn, hardlinking workers",
    platform: { ...lower, ...tool("ghcr.io/catthehacker/ubuntu") },
    instanceName: "hardlinking",
    priority: 10,
  },
  {
    of: "BuildGrid, REv2's lexicon",
    platform: { ...lower, ISA: "x86-64" },
  },
  {
    of: "NativeLink, the platform of its examples",
    platform: { ...lower, ...tool("ghcr.io/tracemachina/nativelink-worker"), Pool: "default" },
    instanceName: "main",
    digestFunction: "BLAKE3",
  },
  {
    of: "NativeLink, a number of CPUs",
    platform: { cpu_count: "1", ...lower },
    refused: "cpu_count",
  },
  {
    of: "Buildfarm, bounds of cores",
    platform: { "min-cores": "1", "max-cores": "4" },
    refused: "-cores",
  },
  {
    of: "Pants, an image",
    platform: { "container-image": "docker://docker.io/library/busybox:1" },
  },
  {
    of: "Buck2, an image with a digest",
    platform: { ...lower, ...tool("docker.io/library/ubuntu") },
    digestFunction: "SHA1",
  },
  {
    of: "a robotics company: Python wheels in an image of quay.io",
    platform: { ...linux, "container-image": "docker://quay.io/pypa/manylinux2014_x86_64:latest" },
  },
  {
    of: "a database: actions for another system",
    platform: { OSFamily: "Darwin", Arch: "arm64" },
    refused: "ISA=aarch64",
  },
  {
    of: "a monorepo: no image for one target, in spite of the default",
    platform: { "container-image": "none", ...linux },
  },
];
