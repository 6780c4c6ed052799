package io.caravan.bench;

import java.net.URISyntaxException;
import java.nio.file.Path;

/** Where these programs keep what they install to measure against, or to work with: beside their own jar or classes. */
public final class Installations {
    private Installations() {}

    /** A directory by this name, which is there or not. */
    public static Path home(String name) {
        try {
            return Path.of(Installations.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .resolveSibling(name);
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("cannot tell where this program lies", impossible);
        }
    }
}
