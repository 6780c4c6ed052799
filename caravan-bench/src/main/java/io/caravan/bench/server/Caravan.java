package io.caravan.bench.server;

import io.caravan.testing.ChildJvm;
import io.caravan.testing.ServerProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The server under test: the {@code serve} command with default settings, but without an archive, because its peers
 * have none.
 *
 * @param flags JVM flags; if there are any, the server runs from this program's own class path, not through its
 *     launcher
 */
public record Caravan(List<String> flags) implements MeasuredServer {
    public static final String NAME = "Caravan";

    /**
     * The system property that contains the path of {@code scripts/caravan}. The class archive and the profiles that
     * the script uses affect the results.
     */
    private static final String LAUNCHER = "caravan.launcher";

    /**
     * Returns the server that {@code scripts/caravan serve} runs or, without that script (as in tests), a server from
     * the class path.
     */
    public static Caravan asDelivered() {
        return new Caravan(List.of());
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String durability() {
        return "sync: fsynced before the reply";
    }

    @Override
    public @Nullable String missing() {
        return null;
    }

    @Override
    public List<String> command(Path data, Ports ports) {
        List<String> serve = List.of(
                "serve",
                "--data",
                data.toString(),
                "--archive",
                "none",
                "--resp",
                Ports.HOST + ":" + ports.resp(),
                "--http",
                Ports.HOST + ":" + ports.http());
        return command(serve);
    }

    /** Returns the operating system command that runs {@code caravan} with these arguments. */
    public List<String> command(List<String> serve) {
        String launcher = System.getProperty(LAUNCHER);
        if (launcher == null || !flags.isEmpty()) {
            return ChildJvm.command(flags, ServerProcess.MAIN, serve);
        }
        // CARAVAN_JAVA_OPTS in the environment contains options for this program, not for the server.
        List<String> command = new ArrayList<>(List.of("env", "-u", "CARAVAN_JAVA_OPTS", launcher));
        command.addAll(serve);
        return command;
    }

    @Override
    public String announcement() {
        return "caravan serves RESP on ";
    }
}
