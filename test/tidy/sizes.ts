import { type Finding, isNode, type Module, type Node, nameOf, walk } from './module.ts'

const fileLinesMax = 300
const functionLinesMax = 70

export function checkFileSizes(modules: readonly Module[]): Finding[] {
  return modules
    .filter(({ lines }) => lines.length > fileLinesMax)
    .map(({ path, lines }) => ({
      file: path,
      line: fileLinesMax + 1,
      rule: 'file-size',
      message: `${lines.length} lines, at most ${fileLinesMax}; split the file along what it does`,
    }))
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

export function checkFunctionSizes(modules: readonly Module[]): Finding[] {
  const findings: Finding[] = []
  for (const module of modules) {
    if (!module.program) continue
    walk(module.program, (node) => {
      if (!functionTypes.has(node.type)) return
      const first = module.lineAt(node.start)
      const size = module.lineAt(node.end - 1) - first + 1
      if (size <= functionLinesMax) return
      findings.push({
        file: module.path,
        line: first,
        rule: 'function-size',
        message: `${functionName(node)} has ${size} lines, at most ${functionLinesMax}; keep the control flow, move leaves out`,
      })
    })
  }
  return findings
}

function functionName(node: Node): string {
  return isNode(node.id) ? nameOf(node.id) : 'this function'
}
