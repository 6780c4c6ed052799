package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.protocol.resp.codec.Command;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All commands, by name. */
public final class CommandTable {
    private final Map<String, CommandSpec> specs = new LinkedHashMap<>();

    /** Adds commands. */
    public void add(List<CommandSpec> group) {
        group.forEach(spec -> specs.put(spec.name(), spec));
    }

    public @Nullable CommandSpec find(Command command) {
        return specs.get(command.keyword(0));
    }

    /** Every command by its name, in capitals; a view that follows what is added. */
    public Map<String, CommandSpec> all() {
        return Collections.unmodifiableMap(specs);
    }
}
