/** The number of actions in the package. */
export const persistentActions = 6;

/**
 * A package for Bazel whose actions support persistent workers. Its tool, in Python without packages, writes into each output
 * whether it was started for this action alone.
 */
export const persistentPackage: Readonly<Record<string, string>> = {
  "persistent/BUILD": `load(":compile.bzl", "compile")
exports_files(["tool.py"])
${Array.from({ length: persistentActions }, (_, n) => `compile(name = "c${n}", src = "source-${n}")\n`).join("")}`,
  ...Object.fromEntries(
    Array.from({ length: persistentActions }, (_, n) => [`persistent/source-${n}`, `source ${n}`]),
  ),
  "persistent/compile.bzl": `def _compile_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".txt")
    args = ctx.actions.args()
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    args.add(ctx.file.src)
    args.add(out)
    ctx.actions.run(
        outputs = [out], inputs = [ctx.file.src], executable = ctx.executable._tool, arguments = [args],
        mnemonic = "SlowCompile", execution_requirements = {"supports-workers": "1"},
    )
    return [DefaultInfo(files = depset([out]))]

compile = rule(
    implementation = _compile_impl,
    attrs = {
        "src": attr.label(allow_single_file = True),
        "_tool": attr.label(
            default = "//persistent:tool.py", executable = True, cfg = "exec", allow_single_file = True,
        ),
    },
)
`,
  "persistent/tool.py": `#!/usr/bin/env python3
import io, os, sys

persistent = "--persistent_worker" in sys.argv

def compile(source, out):
    sources = [name for name in os.listdir("persistent") if name.startswith("source-")]
    with open(source) as text:
        line = "%s, %d source, %s" % (text.read(), len(sources), "persistent" if persistent else "alone")
    with open(out, "w") as result:
        result.write(line + "\\n")

def varint(bytes):
    value = shift = 0
    while True:
        byte = bytes.read(1)
        if not byte:
            sys.exit(0)
        value |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128:
            return value

def arguments(request):
    found = []
    fields = io.BytesIO(request)
    while fields.tell() < len(request):
        tag = varint(fields)
        if tag & 7 == 0:
            varint(fields)
            continue
        content = fields.read(varint(fields))
        if tag >> 3 == 1:
            found.append(content.decode())
    return found

if not persistent:
    with open(sys.argv[-1][1:]) as lines:
        compile(*lines.read().splitlines())
while persistent:
    compile(*arguments(sys.stdin.buffer.read(varint(sys.stdin.buffer))))
    sys.stdout.buffer.write(b"\\0")
    sys.stdout.buffer.flush()
`,
};
