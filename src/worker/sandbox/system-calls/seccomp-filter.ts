import {
  type CallTable,
  inspectedCalls,
  newestCall,
  type RefusedCall,
  refusedCalls,
  socketFamilies,
} from "./refused-calls.ts";

export interface FilterSettings {
  /** Calls that are refused by default but allowed for jobs of this worker. */
  readonly allowedCalls: readonly RefusedCall[];
  /** Whether jobs may create user namespaces, which they need for their own sandboxes. */
  readonly allowsNamespaces: boolean;
}

/**
 * Returns a filter of system calls for seccomp(2), as `struct sock_filter[]` in bytes (8 each); undefined for an
 * architecture, by Node's name, whose calls are unknown.
 *
 * All calls are allowed except those of `refusedCalls`, which fail with EPERM. Calls newer than `newestCall` fail with
 * ENOSYS, as on an older kernel, so that programs use another method. All calls of an architecture without a table also
 * fail with ENOSYS; on x86-64, 32-bit programs (i386) have a table, and x32 programs have none.
 */
export function seccompFilter(architecture: string, settings: FilterSettings): Buffer | undefined {
  switch (architecture) {
    case "x64":
      return bytesOf([
        load(dataOffset.architecture),
        ...onlyIf(auditArchitecture.x64, rulesOf("x64", settings)),
        ...onlyIf(auditArchitecture.i386, rulesOf("i386", settings)),
        fail("ENOSYS"),
      ]);
    case "arm64":
      return bytesOf([
        load(dataOffset.architecture),
        ...onlyIf(auditArchitecture.arm64, rulesOf("arm64", settings)),
        fail("ENOSYS"),
      ]);
    default:
      return undefined;
  }
}

/** `AUDIT_ARCH_*` of linux/audit.h. */
export const auditArchitecture: Readonly<Record<CallTable, number>> = {
  x64: 0xc000_003e,
  arm64: 0xc000_00b7,
  i386: 0x4000_0003,
};

/** The offsets in `struct seccomp_data`. The lower half of an argument comes first. */
const dataOffset = { number: 0, architecture: 4, firstArgument: 16 } as const;

/** Numbers of errors, the same on all architectures in the tables. */
const errors = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** `CLONE_NEWUSER` of sched.h. Every other namespace needs rights that only a user namespace grants. */
const newUserNamespace = 0x1000_0000;

/** `SYS_SOCKET` of linux/net.h. */
const socketOfSocketcall = 1;

/**
 * One `struct sock_filter`: the operation, the number of instructions to skip if it is true and if it is false, and its
 * operand.
 */
type Instruction = readonly [operation: number, ifTrue: number, ifFalse: number, operand: number];

/** Operations of linux/bpf_common.h, all on words of 32 bits. */
const operation = {
  load: 0x20,
  jump: 0x05,
  ifEqual: 0x15,
  ifGreater: 0x25,
  ifAnyBit: 0x45,
  return: 0x06,
} as const;

const load = (offset: number): Instruction => [operation.load, 0, 0, offset];
/** SECCOMP_RET_ALLOW. */
const allow: Instruction = [operation.return, 0, 0, 0x7fff_0000];
/** SECCOMP_RET_ERRNO. */
const fail = (error: keyof typeof errors): Instruction => [
  operation.return,
  0,
  0,
  0x0005_0000 + errors[error],
];
/**
 * Returns instructions that run only if the loaded word equals a value. It uses a separate jump, because conditions
 * skip at most 255.
 */
const onlyIf = (value: number, then: readonly Instruction[]): Instruction[] => [
  [operation.ifEqual, 1, 0, value],
  [operation.jump, 0, 0, then.length],
  ...then,
];

/** Always ends with a return instruction. */
function rulesOf(table: CallTable, settings: FilterSettings): Instruction[] {
  const refused = Object.entries(refusedCalls)
    .filter(([name]) => !settings.allowedCalls.some((allowed) => allowed === name))
    .flatMap(([, numbers]: [string, Partial<Record<CallTable, number>>]) => numbers[table] ?? []);
  const numberOf = (name: keyof typeof inspectedCalls): number | undefined =>
    (inspectedCalls[name] as Partial<Record<CallTable, number>>)[table];
  const rule = (
    name: keyof typeof inspectedCalls,
    then: readonly Instruction[],
  ): readonly Instruction[] => {
    const number = numberOf(name);
    return number === undefined ? [] : onlyIf(number, then);
  };
  return [
    load(dataOffset.number),
    // This includes all x32 calls, which set a higher bit.
    [operation.ifGreater, 0, 1, newestCall],
    fail("ENOSYS"),
    ...refused.flatMap((number) => [[operation.ifEqual, 0, 1, number] as const, fail("EPERM")]),
    ...rule("socket", [
      load(dataOffset.firstArgument),
      ...socketFamilies.flatMap((family) => [[operation.ifEqual, 0, 1, family] as const, allow]),
      fail("EAFNOSUPPORT"),
    ]),
    ...rule("socketcall", [
      load(dataOffset.firstArgument),
      [operation.ifEqual, 0, 1, socketOfSocketcall],
      fail("EAFNOSUPPORT"),
      allow,
    ]),
    ...(settings.allowsNamespaces ? [] : namespaceRules(rule)),
    allow,
  ];
}

function namespaceRules(
  rule: (name: keyof typeof inspectedCalls, then: readonly Instruction[]) => readonly Instruction[],
): Instruction[] {
  const refuseUserNamespace = [
    load(dataOffset.firstArgument),
    [operation.ifAnyBit, 0, 1, newUserNamespace],
    fail("EPERM"),
    allow,
  ] as const;
  return [
    ...rule("clone", refuseUserNamespace),
    ...rule("unshare", refuseUserNamespace),
    // Its flags are in memory. With this error, C libraries use `clone`.
    ...rule("clone3", [fail("ENOSYS")]),
    ...rule("setns", [fail("EPERM")]),
  ];
}

function bytesOf(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [at, [code, ifTrue, ifFalse, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(ifTrue, at * 8 + 2);
    bytes.writeUInt8(ifFalse, at * 8 + 3);
    bytes.writeUInt32LE(operand, at * 8 + 4);
  }
  return bytes;
}
