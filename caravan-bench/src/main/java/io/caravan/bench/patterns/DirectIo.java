package io.caravan.bench.patterns;

import com.sun.nio.file.ExtendedOpenOption;
import java.nio.file.OpenOption;

/** Writes past the operating system's memory, in a JDK that can: those made from OpenJDK do. */
final class DirectIo {
    static final OpenOption OPTION = ExtendedOpenOption.DIRECT;

    private DirectIo() {}
}
