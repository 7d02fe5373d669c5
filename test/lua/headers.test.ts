/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, test } from "vitest";
import { compactLua } from "../../src/redis/lua.ts";
import type { Script } from "../../src/redis/script.ts";

type AnyScript = Script<string, string, unknown>;

const texts = import.meta.glob<string>("../../src/*/*.lua", { eager: true, import: "default" });
const modules = import.meta.glob<Record<string, AnyScript>>("../../src/*/scripts.ts", { eager: true });

// A module of scripts may also export what makes them.
const scripts = Object.values(modules).flatMap((module) =>
  Object.values(module).filter(({ source }) => source),
);
const fileOf = ({ name }: AnyScript) => `../../src/${name.replace(".", "/")}.lua`;

/** The comment at the top of a file, line by line, without its signs. */
function headerOf(text: string): string[] {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("--"));
  return lines.slice(0, end).map((line) => line.replace(/^-- ?/, ""));
}

/** One part of a header, such as `KEYS: …`, with the lines that go on below it. */
function partOf(header: readonly string[], part: string): string | undefined {
  const first = header.findIndex((line) => line.startsWith(`${part}:`));
  if (first < 0) return undefined;
  const rest = header.slice(first + 1);
  const end = rest.findIndex((line) => !line.startsWith("  "));
  const lines = [header[first]?.slice(part.length + 1), ...rest.slice(0, end < 0 ? rest.length : end)];
  return lines
    .map((line) => line?.trim())
    .join(" ")
    .trim();
}

/** The names of a list such as `members (zset), pods (hash), then any number of: lease`. */
function namesOf(list: string): { fixed: string[]; repeated: string[] } {
  const [fixed = "", ...repeated] = list.split(/(?:^|,? ?\bthen )(?:any number of|per \w+|where [^:]*): /);
  const split = (text: string) =>
    text
      .replaceAll(/\([^)]*\)/g, "")
      .split(/[:;]/, 1)
      .join()
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && name !== "none");
  return { fixed: split(fixed), repeated: repeated.flatMap(split) };
}

test("there are scripts, and every Lua file of a room is one of them or a part of them", () => {
  expect(scripts.length).toBeGreaterThan(20);
  const own = new Set(scripts.map(fileOf));
  for (const [file, text] of Object.entries(texts)) {
    if (own.has(file)) continue;
    expect(partOf(headerOf(text), "KEYS"), `${file} has KEYS but no declaration`).toBeUndefined();
    expect(
      scripts.some(({ source }) => source.includes(compactLua(text))),
      `${file} is used`,
    ).toBe(true);
  }
});

test("what the store gets has no comment lines and no indentation, and no text lost a line of its own", () => {
  for (const { name, source } of scripts) {
    expect(source, name).not.toMatch(/^(\s|--)/m);
    expect(compactLua(source), name).toBe(source);
  }
  // Texts and comments over several lines, which are not compacted safely.
  for (const [file, text] of Object.entries(texts)) expect(text, file).not.toMatch(/\[=*\[|\\$/m);
  expect(compactLua("-- A.\n\nlocal a = '  -- b' -- c\n  return a\n")).toBe(
    "local a = '  -- b' -- c\nreturn a\n",
  );
});

describe.each(scripts.map((script) => [script.name, script] as const))("%s", (_, script) => {
  const text = texts[fileOf(script)] ?? "";
  const header = headerOf(text);

  test("stands in a file of its name and says in a first sentence what it does", () => {
    expect(script.source.endsWith(compactLua(text))).toBe(true);
    expect(header[0]).toMatch(/^[A-Z].*/);
    expect(
      header
        .slice(
          0,
          header.findIndex((line) => line.startsWith("KEYS:")),
        )
        .join(" "),
    ).toMatch(/\.$/);
  });

  test("names in its header the keys and arguments of its declaration, in order, and a reply", () => {
    const keys = namesOf(partOf(header, "KEYS") ?? "missing");
    expect(keys.fixed).toEqual(script.keys);
    expect(keys.repeated).toEqual(script.restKeys ?? []);
    const args = namesOf(partOf(header, "ARGV") ?? "missing");
    expect(args.fixed).toEqual(script.args);
    expect(args.repeated).toEqual(script.rest ?? []);
    expect(partOf(header, "Reply")).toMatch(/\w/);
  });

  test("asks no clock and carries no first line for one kind of Redis", () => {
    expect(script.source).not.toMatch(/call\(\s*['"]time['"]/i);
    expect(script.source).not.toMatch(/^#!/m);
  });

  test("gives to each command only a key that was declared", () => {
    expect(undeclaredKeys(script)).toEqual([]);
  });
});

/** Commands that take one key, at once behind their name; where lists of keys follow, `keys.test.ts` watches. */
const ONE_KEY =
  /^(M?GET|M?SET|DEL|UNLINK|[HSZ]?SCAN|APPEND|STRLEN|TYPE|EXISTS|P?EXPIRE|P?TTL|PERSIST|H\w+|Z(ADD|REM\w*|CARD|COUNT|SCORE|MSCORE|(REV)?RANGE\w*|RANK|POPMIN|POPMAX|INCRBY|LEXCOUNT)|S(ADD|REM|CARD|MEMBERS|ISMEMBER|MISMEMBER)|L(PUSH|RANGE|LEN|TRIM|REM|INDEX)|R(PUSH|POP)|BITFIELD|[SG]ETBIT|BITCOUNT|INCR\w*|DECR\w*)$/;

/** A script with the texts that it is made of as they stand in their files, whose indentation says where functions end. */
function indented(source: string): string {
  let whole = source;
  for (const text of Object.values(texts)) whole = whole.replace(compactLua(text), () => text);
  return whole;
}

/** Each place where a command's key is not, by name, one of KEYS: bound at the top, or handed to a function as such. */
function undeclaredKeys({ source }: AnyScript): string[] {
  const code = indented(source).replaceAll(/--[^\n]*/g, "");
  const declared = boundToKeys(code);
  const given = functionsOf(code);
  const isKey = (expression: string, at: number): boolean => {
    const name = expression.trim();
    if (declared.has(name) || /^KEYS\[[^\]]+\]$/.test(name)) return true;
    // A list, its part, or a field of a record made elsewhere: what stands there is seen only as it runs.
    if (/^(unpack\(|\w+\[\d\]$|\w+\.key$)/.test(name)) return true;
    const choice = /^\(\{(.*)\}\)\[\w+\]$/.exec(name)?.[1];
    if (choice) return splitArgs(choice).every((field) => isKey(field.split("=")[1] ?? "", at));
    const inside = given.findLast(({ from, to }) => from <= at && at < to);
    const place = inside?.params.indexOf(name.split(".", 1)[0] ?? "") ?? -1;
    if (!inside || place < 0) return false;
    return callsOf(code, inside.name).every((call) => {
      const argument = call.args[place]?.trim() ?? "";
      return isKey(name.includes(".") ? `${argument}.${name.split(".")[1]}` : argument, call.at);
    });
  };
  return callsOf(code, "redis.call").flatMap(({ args, at }) => {
    const command = /^['"](\w+)['"]$/.exec(args[0]?.trim() ?? "")?.[1] ?? "";
    const good = ONE_KEY.test(command) && isKey(args[1] ?? "", at);
    return good ? [] : [args.slice(0, 2).join(",")];
  });
}

/** Names that stand for KEYS[n]: locals, and fields of a table made of them alone. */
function boundToKeys(code: string): Set<string> {
  const bound = new Set<string>();
  for (const [, names = "", values = ""] of code.matchAll(/^\s*local ([\w, ]+) = ([^\n]*(?:,\n[^\n]*)*)/gm)) {
    const parts = splitArgs(values);
    for (const [place, name] of names.split(",").entries()) {
      const value = parts[place]?.trim() ?? "";
      if (/^KEYS\[[^\]]+\]$/.test(value)) bound.add(name.trim());
      const table = /^\{(.*)\}$/s.exec(value)?.[1];
      for (const [, field, from = ""] of table?.matchAll(/(\w+) = ([^,]+)/g) ?? []) {
        if (/^KEYS\[[^\]]+\]\s*$/.test(from) || bound.has(from.trim())) bound.add(`${name.trim()}.${field}`);
      }
    }
  }
  return bound;
}

/** Local functions of a script with their parameters and where their text stands: to the next `end` in column one. */
function functionsOf(code: string) {
  return [...code.matchAll(/^local function (\w+)\(([^)]*)\)/gm)].map(
    ({ 1: name = "", 2: params = "", index }) => ({
      name,
      params: params.split(",").map((one) => one.trim()),
      from: index,
      to: code.indexOf("\nend", index),
    }),
  );
}

/** Every call of a function, with its arguments as text. */
function callsOf(code: string, name: string): { args: string[]; at: number }[] {
  const pattern = new RegExp(`(?<!function )(?<![\\w.])${name.replace(".", "\\.")}\\(`, "g");
  return [...code.matchAll(pattern)].map(({ 0: found, index }) => ({
    args: splitArgs(code.slice(index + found.length)),
    at: index,
  }));
}

/** The parts of a list at its commas, up to the bracket that closes it or the end of the text. */
function splitArgs(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const sign of text) {
    if ("([{".includes(sign)) depth += 1;
    if (")]}".includes(sign)) depth -= 1;
    if (depth < 0) break;
    if (sign === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += sign;
  }
  return parts;
}
