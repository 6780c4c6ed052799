package io.caravan.server.config;

/** The version of this release. */
public final class Version {

    private Version() {}

    /** Returns the version named in the JAR file, or "unpackaged" if none is named. */
    public static String current() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "unpackaged" : version;
    }
}
