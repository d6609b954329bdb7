import type { GroupConfig } from '../config/model.ts'
import { ConfigError } from '../lib/errors.ts'
import { closestName } from './closest-name.ts'
import { type CompiledGroup, compileGroup } from './group-links.ts'
import type { Mapping, MappingBinding, MissingColumn } from './mapping.ts'

/** A mapping whose reader of ids reads too which rows are one product. Without the columns for it no file is bound. */
export function groupMapping(
  mapping: Mapping,
  { feed, group }: { feed: string; group: GroupConfig },
): Mapping {
  const problems: string[] = []
  const compiled = compileGroup(group, problems)
  if (!compiled) throw new ConfigError('mapping', `feed ${feed}: group: ${problems.join('; ')}`)
  const wrap = (binding: MappingBinding, columns: readonly string[]) => bindGroup(binding, compiled, columns)
  return {
    ...mapping,
    neededColumns: [...new Set([...mapping.neededColumns, ...compiled.columns])],
    bind: (columns) => wrap(mapping.bind(columns), columns),
    bindLeniently: (columns) => wrap(mapping.bindLeniently(columns), columns),
  }
}

function bindGroup(
  binding: MappingBinding,
  group: CompiledGroup,
  columns: readonly string[],
): MappingBinding {
  const placeOf = (column: string) => {
    const place = columns.indexOf(column)
    return place < 0 ? undefined : place
  }
  const missing = group.missing(placeOf).map((column): MissingColumn => {
    const suggestion = closestName(column, columns)
    return { column, field: 'group', ...(suggestion === undefined ? {} : { suggestion }) }
  })
  if (binding.kind === 'missing-columns') {
    return { ...binding, missingColumns: [...binding.missingColumns, ...missing] }
  }
  if (missing.length > 0) return { kind: 'missing-columns', missingColumns: missing }
  const { bound } = binding
  return { kind: 'bound', bound: { ...bound, idReader: group.bind(bound.idReader, placeOf) } }
}
