package io.caravan.bench.s3;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The available S3 servers. */
public enum S3Software {
    /** Python; keeps its objects in memory. */
    MOTO(new Moto()),
    /** Go; keeps its objects in files. */
    VERSITYGW(new Versitygw()),
    /** Java; keeps its objects in files. Included with this program. */
    S3PROXY(new S3ProxyProgram());

    private final S3Program program;

    S3Software(S3Program program) {
        this.program = program;
    }

    /**
     * Installs the program if necessary, which may take minutes and need a network.
     *
     * @return why it cannot run here, in words; null when it can
     */
    public @Nullable String install() throws IOException {
        return program.install();
    }

    /** Whether its objects survive its process. */
    public boolean keepsObjects() {
        return program.keepsObjects();
    }

    void tidy(Path data) throws IOException {
        program.tidy(data);
    }

    List<String> command(Path data, int port) {
        return program.command(data, port);
    }

    Map<String, String> environment() {
        return program.environment();
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
