package io.caravan.server.cli.common;

import io.caravan.server.config.Version;
import picocli.CommandLine;

/** Provides the output of {@code --version}. */
public final class VersionProvider implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"caravan " + Version.current()};
    }
}
