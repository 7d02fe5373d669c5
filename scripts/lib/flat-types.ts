import { SyntaxKind } from "typescript/unstable/ast";
import { API, NodeBuilderFlags } from "typescript/unstable/sync";

const FLAGS =
  NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias | NodeBuilderFlags.MultilineObjectLiterals;

/** A source file's exported type aliases and what the compiler makes of each, written out: no import, no zod. */
export type FlatTypes = Map<string, string>;

/** Writes out the exported type aliases of files as declarations that need no other file; throws for a file without any. */
export function flatTypes(project: string, files: readonly string[]): FlatTypes {
  const api = new API({ cwd: project.slice(0, project.lastIndexOf("/")) });
  try {
    const opened = api.updateSnapshot({ openProjects: [project] }).getProject(project);
    if (opened === undefined) throw new Error(`${project} could not be opened`);
    const { program, checker } = opened;
    return new Map(
      files.map((file) => {
        const aliases = (program.getSourceFile(file)?.statements ?? []).flatMap((statement) => {
          if (statement.kind !== SyntaxKind.TypeAliasDeclaration) return [];
          const { name } = statement as typeof statement & { name: { text: string } };
          const type = checker.getTypeAtLocation(name as never);
          return type ? [`export type ${name.text} = ${checker.typeToString(type, statement, FLAGS)};`] : [];
        });
        if (aliases.length === 0) throw new Error(`${file} has no types to write out`);
        return [file, `${aliases.join("\n")}\n`];
      }),
    );
  } finally {
    api.close();
  }
}
