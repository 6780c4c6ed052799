package io.caravan.bench.patterns;

import com.sun.nio.file.ExtendedOpenOption;
import java.nio.file.OpenOption;

/** Bypasses the page cache, on JDKs that can: those based on OpenJDK do. */
final class DirectIo {
    static final OpenOption OPTION = ExtendedOpenOption.DIRECT;

    private DirectIo() {}
}
