// The messages, enums and services of descriptors by their names, and as the plan has them.
import type { ProtoEnum, ProtoField, ProtoMessage } from '../plan.gen.js';
import type {
  EnumDescriptor,
  FieldDescriptor,
  FileDescriptor,
  MessageDescriptor,
  MethodDescriptor,
  ServiceDescriptor,
} from './descriptor-set.js';

const MESSAGE_KINDS = new Set([10, 11]);
const ENUM_KIND = 14;
const REQUIRED = 2;
const REPEATED = 3;
const IMPLICIT = 2;

interface Known<Descriptor> {
  readonly name: string;
  readonly descriptor: Descriptor;
  readonly file: FileDescriptor;
}

export interface Method {
  readonly name: string;
  readonly descriptor: MethodDescriptor;
  readonly input: string;
  readonly output: string;
}

export class DescriptorPool {
  readonly #files = new Set<string>();
  readonly #messages = new Map<string, Known<MessageDescriptor>>();
  readonly #enums = new Map<string, Known<EnumDescriptor>>();
  readonly #services = new Map<string, Known<ServiceDescriptor>>();

  /** What is wrong with it, or undefined. Files that it imports come before it. */
  add(file: FileDescriptor): string | undefined {
    const missing = file.dependency.find((name) => !this.#files.has(name));
    if (missing !== undefined)
      return `${file.name} imports ${missing}, which is not there before it`;
    this.#files.add(file.name);
    const names: string[] = [];
    this.#addTypes(file, file.package, file.message_type, file.enum_type, names);
    for (const descriptor of file.service) {
      const name = within(file.package, descriptor.name);
      names.push(name);
      this.#services.set(name, { name, descriptor, file });
    }
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return twice === undefined ? this.#unresolved(file, names) : `${twice} is there twice`;
  }

  hasMessage(name: string): boolean {
    return this.#messages.has(name);
  }

  /** Undefined: there is none of that name. */
  methodsOf(service: string): readonly Method[] | undefined {
    return this.#services.get(service)?.descriptor.method.map((descriptor) => ({
      name: `${service}.${descriptor.name}`,
      descriptor,
      input: this.#resolve(descriptor.input_type, service) ?? '',
      output: this.#resolve(descriptor.output_type, service) ?? '',
    }));
  }

  serviceNames(): readonly string[] {
    return [...this.#services.keys()];
  }

  /** The field that a message has under that name, in either spelling. */
  field(
    message: string,
    name: string,
  ): { readonly name: string; readonly message?: string } | undefined {
    const known = this.#messages.get(message);
    const field = known?.descriptor.field.find(
      (one) => one.name === name || jsonNameOf(one) === name,
    );
    if (!field) return undefined;
    const type = field.type === 11 ? this.#resolve(field.type_name, message) : undefined;
    return { name: field.name, ...(type !== undefined && { message: type }) };
  }

  /** Those that these speak of; all, where they may speak of any. */
  tables(roots: readonly string[], takesAll: boolean): PoolTables {
    const wanted = this.#reachable(roots);
    const all = takesAll || wanted.has('google.protobuf.Any');
    const messages = [...this.#messages.values()].filter(({ name }) => all || wanted.has(name));
    const enums = [...this.#enums.values()];
    const messagePlaces = new Map(messages.map(({ name }, index) => [name, index]));
    const enumPlaces = new Map(enums.map(({ name }, index) => [name, index]));
    return {
      messages: messages.map((known) => this.#messagePlan(known, messagePlaces, enumPlaces)),
      enums: enums.map(({ name, descriptor }) => ({
        name,
        values: descriptor.value.map((value) => ({ name: value.name, number: value.number >>> 0 })),
      })),
      placeOf: (name) => messagePlaces.get(name) ?? 0,
    };
  }

  #addTypes(
    file: FileDescriptor,
    scope: string,
    messages: readonly MessageDescriptor[],
    enums: readonly EnumDescriptor[],
    names: string[],
  ): void {
    for (const descriptor of enums) {
      const name = within(scope, descriptor.name);
      names.push(name);
      this.#enums.set(name, { name, descriptor, file });
    }
    for (const descriptor of messages) {
      const name = within(scope, descriptor.name);
      names.push(name);
      this.#messages.set(name, { name, descriptor, file });
      this.#addTypes(file, name, descriptor.nested_type, descriptor.enum_type, names);
    }
  }

  #unresolved(file: FileDescriptor, names: readonly string[]): string | undefined {
    for (const name of names) {
      for (const field of this.#messages.get(name)?.descriptor.field ?? []) {
        const has = this.#resolve(field.type_name, name) !== undefined;
        if ((MESSAGE_KINDS.has(field.type) || field.type === ENUM_KIND) && !has)
          return `${name}.${field.name} is a ${field.type_name}, which is not there`;
        if (field.type < 1 || field.type > 18)
          return `${name}.${field.name} has no type that is known`;
      }
      for (const method of this.#services.get(name)?.descriptor.method ?? []) {
        const lost = [method.input_type, method.output_type].find(
          (type) => !this.#messages.has(this.#resolve(type, name) ?? ''),
        );
        if (lost !== undefined)
          return `${name}.${method.name} speaks of ${lost}, which is not there`;
      }
    }
    return undefined;
  }

  /** A name with its package, of one that may be seen from `scope`. */
  #resolve(name: string, scope: string): string | undefined {
    const has = (full: string): boolean => this.#messages.has(full) || this.#enums.has(full);
    if (name.startsWith('.')) return has(name.slice(1)) ? name.slice(1) : undefined;
    for (let around = scope; ; around = around.slice(0, Math.max(around.lastIndexOf('.'), 0))) {
      const full = within(around, name);
      if (has(full)) return full;
      if (around === '') return undefined;
    }
  }

  #reachable(roots: readonly string[]): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [...roots];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (found.has(name)) continue;
      found.add(name);
      for (const field of this.#messages.get(name)?.descriptor.field ?? [])
        if (MESSAGE_KINDS.has(field.type)) open.push(this.#resolve(field.type_name, name) ?? '');
    }
    return found;
  }

  #messagePlan(
    { name, descriptor, file }: Known<MessageDescriptor>,
    messagePlaces: ReadonlyMap<string, number>,
    enumPlaces: ReadonlyMap<string, number>,
  ): ProtoMessage {
    return {
      name,
      oneofs: descriptor.oneof_decl.map((oneof) => oneof.name),
      is_map_entry: descriptor.options?.map_entry,
      is_proto3: file.syntax === 'proto3',
      fields: descriptor.field.map((field): ProtoField => {
        const type = this.#resolve(field.type_name, name) ?? '';
        const places = field.type === ENUM_KIND ? enumPlaces : messagePlaces;
        return {
          name: field.name,
          json_name: jsonNameOf(field),
          number: field.number,
          kind: field.type,
          repeated: field.label === REPEATED,
          required: field.label === REQUIRED,
          has_presence: hasPresence(field, file),
          type: places.get(type) ?? 0,
          oneof: isInOneof(field) ? (field.oneof_index ?? 0) + 1 : 0,
        };
      }),
    };
  }
}

export interface PoolTables {
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  readonly placeOf: (message: string) => number;
}

const within = (scope: string, name: string): string => (scope === '' ? name : `${scope}.${name}`);

const isInOneof = (field: FieldDescriptor): boolean => Object.hasOwn(field, 'oneof_index');

/** Whether it is told apart from its default. */
function hasPresence(field: FieldDescriptor, file: FileDescriptor): boolean {
  if (isInOneof(field) || MESSAGE_KINDS.has(field.type)) return true;
  if (file.syntax === 'proto3') return false;
  const presence =
    field.options?.features?.field_presence ?? file.options?.features?.field_presence;
  return presence !== IMPLICIT;
}

/** As protoc makes it of a name where there is none. */
function jsonNameOf(field: FieldDescriptor): string {
  if (field.json_name) return field.json_name;
  return field.name.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase());
}
