package io.caravan.server.resp;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All commands, by name. */
final class CommandTable {
    private final Map<String, CommandSpec> specs = new LinkedHashMap<>();

    /** A table of these commands, and of {@code COMMAND}, which tells of them. */
    CommandTable(List<List<CommandSpec>> groups) {
        groups.forEach(this::add);
        add(new CommandCommand(this::all).all());
    }

    private void add(List<CommandSpec> group) {
        group.forEach(spec -> specs.put(spec.name(), spec));
    }

    @Nullable
    CommandSpec find(Command command) {
        return specs.get(command.keyword(0));
    }

    Map<String, CommandSpec> all() {
        return Collections.unmodifiableMap(specs);
    }
}
