package io.caravan.server.cli.common;

import io.caravan.server.config.Version;
import picocli.CommandLine;

/** What {@code --version} prints. */
public final class VersionProvider implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"caravan " + Version.current()};
    }
}
