package io.caravan.bench.s3;

import java.util.Locale;

/** The available S3 servers. */
public enum S3Software {
    /** The Moto server, written in Python, which keeps its objects in memory. */
    MOTO(new Moto()),
    /** The Versity S3 Gateway, written in Go, which keeps its objects in files. */
    VERSITYGW(new Versitygw()),
    /** The s3proxy server, written in Java, which keeps its objects in files. Included with this program. */
    S3PROXY(new S3ProxyProgram());

    private final S3Program program;

    S3Software(S3Program program) {
        this.program = program;
    }

    /** Returns the program that installs and starts the server. */
    public S3Program program() {
        return program;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
