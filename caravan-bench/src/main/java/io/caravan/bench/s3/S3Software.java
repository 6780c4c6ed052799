package io.caravan.bench.s3;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The S3 servers that there are to choose from. */
public enum S3Software {
    /** Python; keeps its objects in memory. */
    MOTO(new Moto()),
    /** Go; keeps its objects in files. */
    VERSITYGW(new Versitygw()),
    /** Java; keeps its objects in files. Comes with this program. */
    S3PROXY(new S3ProxyProgram());

    private final S3Program program;

    S3Software(S3Program program) {
        this.program = program;
    }

    /**
     * Installs it if it is not, which may take minutes and need a network.
     *
     * @return why it cannot run here, in words; null when it can
     */
    public @Nullable String install() throws IOException {
        return program.install();
    }

    /** Whether its objects outlive its process. */
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

    /** As people write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
