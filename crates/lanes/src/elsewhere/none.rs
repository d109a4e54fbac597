//! How a type without values is made, so that what is asked of it needs no code.

/// A type without values.
macro_rules! none {
    ($(#[$derive:meta])? $name:ident$(<$way:ident>)?) => {
        /// Instructions that this processor does not have.
        $(#[$derive])?
        pub enum $name$(<const $way: bool>)? {}
    };
}

/// Lanes for `$lanes` messages.
macro_rules! no_lanes {
    ($name:ident, $lanes:literal) => {
        none!(
            #[derive(Debug, Clone, Copy, PartialEq)]
            $name
        );

        impl $name {
            /// `None`.
            pub fn detect() -> Option<Self> {
                None
            }
        }

        impl Compress<$lanes> for $name {
            fn compress(self, _: LaneHash, _: &mut States<$lanes>, _: &Messages<'_, $lanes>, _: usize) {
                match self {}
            }
        }
    };
}
