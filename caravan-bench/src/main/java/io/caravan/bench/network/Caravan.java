package io.caravan.bench.network;

import io.caravan.bench.ChildJvm;
import io.caravan.bench.server.ServerProcess;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The server under test: the {@code serve} command with default settings, but without an archive, which its peers lack
 * too. Runs from this program's own class path.
 *
 * @param flags JVM flags
 */
public record Caravan(List<String> flags) implements Subject {
    public static final String NAME = "Caravan";

    /** As {@code scripts/caravan serve} runs it. */
    public static Caravan asDelivered() {
        return new Caravan(List.of());
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String durability() {
        return "sync: forced before the answer";
    }

    @Override
    public @Nullable String missing() {
        return null;
    }

    @Override
    public List<String> command(Path data, Ports ports) {
        return ChildJvm.command(
                flags,
                ServerProcess.MAIN,
                List.of(
                        "serve",
                        "--data",
                        data.toString(),
                        "--archive",
                        "none",
                        "--resp",
                        Ports.HOST + ":" + ports.resp(),
                        "--http",
                        Ports.HOST + ":" + ports.http()));
    }

    @Override
    public String announcement() {
        return "caravan serves RESP on ";
    }
}
