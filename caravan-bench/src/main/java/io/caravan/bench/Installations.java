package io.caravan.bench;

import java.net.URISyntaxException;
import java.nio.file.Path;

/** Where these programs keep the peers and tools that they install: beside their own jar or classes. */
public final class Installations {
    private Installations() {}

    /** The directory with this name, which may not exist yet. */
    public static Path home(String name) {
        try {
            return Path.of(Installations.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .resolveSibling(name);
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("cannot locate this program's own jar or classes", impossible);
        }
    }
}
